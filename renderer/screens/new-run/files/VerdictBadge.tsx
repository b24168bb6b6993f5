import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconInfoCircle,
  IconSearch,
} from '@tabler/icons-react';
import { Badge, type Tone } from '../../../components/feedback/StateBadge.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { lacksEnvironment, useEnvironment } from '../../../state/computer/environment.ts';
import { type FileVerdict, type ListedFile, verdictOf } from '../../../state/newRun/inspection.ts';

const LOOKS: Record<FileVerdict, readonly [Tone, typeof IconSearch]> = {
  looking: ['neutral', IconSearch],
  ready: ['good', IconCircleCheck],
  warning: ['warn', IconInfoCircle],
  skipped: ['warn', IconAlertTriangle],
  blocked: ['bad', IconCircleX],
};

export function VerdictBadge({ file }: { file: ListedFile }) {
  const { t } = useTexts();
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const verdict = verdictOf(file);
  const [tone, icon] = LOOKS[verdict];
  return (
    <Badge tone={tone} icon={icon}>
      {t(verdict === 'looking' && lacks ? 'verdict.waiting' : `verdict.${verdict}`)}
    </Badge>
  );
}
