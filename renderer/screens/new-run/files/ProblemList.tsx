import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react';
import type { InputFileProblem } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useProblemTexts } from '../../../state/problemTexts.ts';
import classes from './ProblemList.module.css';

const ICONS = { blocks: IconCircleX, skipped: IconAlertTriangle, warning: IconInfoCircle };

/** What was found in a file, with what will happen to it. */
export function ProblemList({ problems }: { problems: readonly InputFileProblem[] }) {
  const { t } = useTexts();
  const sayProblem = useProblemTexts();
  if (problems.length === 0) {
    return (
      <p className={classes.fine}>
        <IconCircleCheck size={18} aria-hidden /> {t('newRun.noProblems')}
      </p>
    );
  }
  return (
    <ul className={classes.list}>
      {problems.map((problem) => {
        const Icon = ICONS[problem.severity];
        const { message, effect } = sayProblem(problem);
        return (
          <li key={problem.code} className={`${classes.problem} ${classes[problem.severity]}`}>
            <Icon size={18} aria-hidden />
            <div>
              <span className={classes.message}>{message}</span> <span className="muted">{effect}</span>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
