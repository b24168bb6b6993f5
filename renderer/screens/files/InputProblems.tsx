import { Box } from '@mantine/core';
import type { InputStatus } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';

/** What was remarkable in a file, with the first sequences it concerns. */
export function InputProblems({ input }: { input: InputStatus }) {
  const { t, lookUp, format } = useTexts();
  if (input.problems.length === 0) return null;
  return (
    <Box component="ul" mt={12} mb={0} pl={18}>
      {input.problems.map((problem) => (
        <li key={problem.code}>
          <b>
            {t('files.problem', {
              count: format.integer(problem.count),
              what: lookUp(`inputProblem.${problem.code}`) ?? problem.code.replaceAll('_', ' '),
            })}
          </b>{' '}
          <span className="muted">
            {t(problem.severity === 'skipped' ? 'files.skippedNote' : 'files.keptNote')}{' '}
            {format.list(problem.examples.slice(0, 3).map((example) => example.name))}
          </span>
        </li>
      ))}
    </Box>
  );
}
