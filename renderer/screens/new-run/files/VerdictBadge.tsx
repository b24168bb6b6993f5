import { StateBadge } from '../../../components/feedback/StateBadge.tsx';
import { lacksEnvironment, useEnvironment } from '../../../state/computer/environment.ts';
import { type ListedFile, verdictOf } from '../../../state/newRun/inspection.ts';

export function VerdictBadge({ file }: { file: ListedFile }) {
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const verdict = verdictOf(file);
  return <StateBadge state={verdict === 'looking' && lacks ? 'verdict.waiting' : `verdict.${verdict}`} />;
}
