import { IconFileImport } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTexts } from '../i18n/index.ts';
import classes from './FileDropZone.module.css';

/** The whole window takes files. The veil shows only while something with files is dragged over it. */
export function FileDropZone({ onDrop }: { onDrop: (transfer: DataTransfer) => void }) {
  const { t } = useTexts();
  const [dragged, setDragged] = useState(false);
  useEffect(() => {
    // Entering a child leaves its parent: only the balance tells whether the pointer is still over the window.
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth += 1;
      setDragged(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setDragged(false);
    };
    const over = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      depth = 0;
      setDragged(false);
      onDrop(event.dataTransfer);
    };
    const listeners = { dragenter: enter, dragleave: leave, dragover: over, drop } as const;
    for (const [name, listener] of Object.entries(listeners))
      window.addEventListener(name as 'drop', listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners))
        window.removeEventListener(name as 'drop', listener);
    };
  }, [onDrop]);
  if (!dragged) return null;
  return (
    <div className={classes.veil}>
      <div className={classes.frame}>
        <IconFileImport size={48} stroke={1.4} aria-hidden />
        <p className={classes.title}>{t('drop.title')}</p>
        <p className={classes.formats}>{t('drop.formats')}</p>
      </div>
    </div>
  );
}
