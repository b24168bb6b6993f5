import { useState } from 'react';
import type { InputStatus, RunSummary } from '../../../electron/contract/index.ts';
import { FailuresCard } from './FailuresCard.tsx';
import { InputsCard } from './InputsCard.tsx';
import { PartsCard } from './PartsCard.tsx';

/** Inputs with their parts beneath, and above all what failed. */
export function FilesTab({ run }: { run: RunSummary }) {
  const [input, setInput] = useState<InputStatus | null>(null);
  return (
    <>
      <FailuresCard run={run} />
      <InputsCard run={run} selected={input?.input ?? null} onSelect={setInput} />
      <PartsCard run={run} input={input} onShowAll={() => setInput(null)} />
    </>
  );
}
