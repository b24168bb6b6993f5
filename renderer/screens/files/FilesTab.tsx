import { useEffect, useRef, useState } from 'react';
import type { InputStatus, RunSummary } from '../../../electron/contract/index.ts';
import { useLiveRun } from '../../state/liveRun.ts';
import { FailuresCard } from './FailuresCard.tsx';
import { InputsCard } from './InputsCard.tsx';
import { PartsCard } from './PartsCard.tsx';

const REFRESH_MS = 2000;

/** Inputs with their parts beneath, and above all what failed. */
export function FilesTab({ run }: { run: RunSummary }) {
  const [input, setInput] = useState<InputStatus | null>(null);
  const version = usePartsVersion();
  return (
    <>
      <FailuresCard run={run} version={version} />
      <InputsCard run={run} version={version} selected={input?.input ?? null} onSelect={setInput} />
      <PartsCard run={run} version={version} input={input} onShowAll={() => setInput(null)} />
    </>
  );
}

/** Grows when parts have changed state, but at most every two seconds: the lists below are asked for anew each time. */
function usePartsVersion(): number {
  const fingerprint = useLiveRun((state) => {
    const progress = state.live?.progress;
    return progress
      ? `${progress.parts.total}/${progress.parts.done}/${progress.parts.failed}/${progress.parts.inWork}/${progress.prepare.records}`
      : '';
  });
  const [version, setVersion] = useState(0);
  const lastChange = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, lastChange.current + REFRESH_MS - Date.now());
    const timer = setTimeout(() => {
      lastChange.current = Date.now();
      setVersion((n) => n + 1);
    }, wait);
    return () => clearTimeout(timer);
  }, [fingerprint]);
  return version;
}
