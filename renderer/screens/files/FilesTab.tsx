import { useState } from 'react';
import type { InputStatus, RunSummary } from '../../../electron/contract/index.ts';
import { TechnicalDetails } from '../../components/TechnicalDetails.tsx';
import { FailuresCard } from './FailuresCard.tsx';
import { InputsCard } from './InputsCard.tsx';
import { LeftOutCard } from './LeftOutCard.tsx';
import { PartsCard } from './PartsCard.tsx';
import { ResultFilesCard } from './ResultFilesCard.tsx';

/** What failed above all, then the inputs and the result files; the pieces of work are folded away. */
export function FilesTab({ run }: { run: RunSummary }) {
  const [input, setInput] = useState<InputStatus | null>(null);
  return (
    <>
      <FailuresCard run={run} />
      <LeftOutCard run={run} />
      <InputsCard run={run} selected={input?.input ?? null} onSelect={setInput} />
      <ResultFilesCard run={run} />
      <TechnicalDetails>
        <PartsCard run={run} input={input} onShowAll={() => setInput(null)} />
      </TechnicalDetails>
    </>
  );
}
