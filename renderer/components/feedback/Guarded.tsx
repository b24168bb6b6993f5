import { Affix, Box, Button, Group, Stack, Text } from '@mantine/core';
import { Children, isValidElement, useState, type ReactNode } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { useTexts } from '../../i18n/index.ts';
import { Banner } from './Banner.tsx';
import { CopyDetails } from './ErrorCard.tsx';

/** What is shown instead, by what it replaces. Its texts have no variables, so that it cannot fail as what it replaces did. */
const INSTEAD_OF = { part: PartFault, screen: ScreenFault, floating: FloatingFault, window: WindowFault };

interface GuardedProps {
  what?: keyof typeof INSTEAD_OF;
  /** What cannot be shown is tried again when one of these changes, such as the screen. */
  resetKeys?: unknown[];
  children: ReactNode;
}

/**
 * Guards each of its children by itself: if one throws while it renders, or its code cannot be loaded, a message takes its
 * place, and its neighbours stay. It has to stand outside the component that may throw.
 */
export function Guarded({ what = 'part', resetKeys = [], children }: GuardedProps) {
  return Children.map(children, (child) =>
    isValidElement(child) ? (
      <ErrorBoundary FallbackComponent={INSTEAD_OF[what]} resetKeys={resetKeys}>
        {child}
      </ErrorBoundary>
    ) : (
      child
    ),
  );
}

function PartFault({ error, resetErrorBoundary, more }: FallbackProps & { more?: ReactNode }) {
  const { t } = useTexts();
  return (
    <Banner
      tone="warn"
      title={t('fault.part')}
      urgent
      actions={
        <>
          <Button size="compact-sm" onClick={() => resetErrorBoundary()}>
            {t('common.tryAgain')}
          </Button>
          <CopyDetails text={detailsOf(error)} />
          {more}
        </>
      }
    >
      {t('fault.rest')}
    </Banner>
  );
}

function ScreenFault(fault: FallbackProps) {
  return (
    <Box p="28px 32px">
      <PartFault {...fault} />
    </Box>
  );
}

/** Dialogs and the like have no place of their own. */
function FloatingFault(fault: FallbackProps) {
  const { t } = useTexts();
  const [isHidden, setHidden] = useState(false);
  if (isHidden) return null;
  const hide = (
    <Button variant="default" size="compact-sm" onClick={() => setHidden(true)}>
      {t('common.close')}
    </Button>
  );
  return (
    <Affix position={{ bottom: 20, left: 20, right: 20 }}>
      <PartFault {...fault} more={hide} />
    </Affix>
  );
}

function WindowFault({ error }: FallbackProps) {
  const { t } = useTexts();
  return (
    <Stack component="main" mih="100%" gap={4} p={24} align="center" justify="center" ta="center">
      <Text component="h1" mb={6} fz={24} fw={650}>
        {t('fault.window')}
      </Text>
      <Text mb={10}>{t('fault.windowText')}</Text>
      <Group gap={8}>
        <Button onClick={() => location.reload()}>{t('fault.reload')}</Button>
        <CopyDetails text={detailsOf(error)} />
      </Group>
    </Stack>
  );
}

function detailsOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  // Some browsers begin the stack with the message.
  return stack.includes(String(error)) ? stack : `${String(error)}\n${stack}`;
}
