import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconCopy, IconFolderOpen } from '@tabler/icons-react';
import { useReveal } from '../../state/useReveal.ts';

/** A path in one line. Right-to-left direction keeps the end of a long path in sight, which says most. */
export function PathEnd({ path }: { path: string }) {
  return (
    <span dir="rtl" className="ellipsis" title={path}>
      <bdi dir="ltr">{path}</bdi>
    </span>
  );
}

/** A path, with a button that shows it in the file manager, or copies it if there is none. */
export function PathText({ path }: { path: string }) {
  const { hasFileManager, label, run } = useReveal();
  return (
    <Group component="span" gap={4} maw="100%" miw={0} wrap="nowrap" display="inline-flex">
      <PathEnd path={path} />
      <Tooltip label={label}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={`${label}: ${path}`}
          onClick={() => run(path)}
        >
          {hasFileManager ? <IconFolderOpen size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
