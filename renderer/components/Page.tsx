import { Group, Text } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { isAtWork } from '../../electron/contract/runState.ts';
import { useTexts } from '../i18n/index.ts';
import { Guarded } from './feedback/Guarded.tsx';
import { useRuns } from '../state/runs/runs.ts';
import classes from './Page.module.css';

interface PageProps {
  title: string;
  /** If the title is in another language than the window. */
  titleLanguage?: 'en';
  /** Title of the browser's tab, if it says more than the heading. */
  windowTitle?: string;
  /** One sentence shown below the title. */
  lead?: ReactNode;
  actions?: ReactNode;
  /** For a screen whose table fills the window, so that the table scrolls and not the page. */
  fill?: boolean;
  /** For screens with short lines, such as forms. */
  narrow?: boolean;
  children: ReactNode;
}

/** A screen: heading, lead, actions and content. A new screen starts scrolled to the top, with the focus on its heading. */
export function Page({
  title,
  titleLanguage,
  windowTitle,
  lead,
  actions,
  fill = false,
  narrow = false,
  children,
}: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.closest('main')?.scrollTo(0, 0);
  }, []);
  return (
    <div className={`${fill ? classes.pageFilled : classes.page} ${narrow ? classes.narrow : ''}`}>
      {windowTitle === undefined ? <TitleWithWork title={title} /> : <WindowTitle title={windowTitle} />}
      <header className={classes.header}>
        <h1 className={classes.title} ref={heading} tabIndex={-1} lang={titleLanguage}>
          {title}
        </h1>
        {actions && (
          <Group gap={8}>
            <Guarded>{actions}</Guarded>
          </Group>
        )}
        {lead && (
          <Text c="dimmed" maw="110ch" flex="1 0 100%">
            {lead}
          </Text>
        )}
      </header>
      <Guarded>{children}</Guarded>
    </div>
  );
}

function WindowTitle({ title }: { title: string }) {
  useEffect(() => {
    document.title = `${title} · VirNucPro Desktop`;
  }, [title]);
  return null;
}

/** Shows the progress of the current run in the title: the browser's tab may be all that the user sees. */
function TitleWithWork({ title }: { title: string }) {
  const { format } = useTexts();
  const percent = useRuns(({ runs }) => {
    const fraction = runs?.find(isAtWork)?.fraction ?? null;
    return fraction === null ? null : format.progress(fraction);
  });
  return <WindowTitle title={percent === null ? title : `${percent} · ${title}`} />;
}
