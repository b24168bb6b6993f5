import { useEffect, useRef } from 'react';

/** Calls `reload` when `version` changes, but not for the version it began with. */
export function useReloadOn(version: number, reload: () => void): void {
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current === version) return;
    seen.current = version;
    reload();
  }, [version, reload]);
}
