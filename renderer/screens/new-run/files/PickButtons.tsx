import { useMutation } from '@tanstack/react-query';
import { Button, Group, Menu } from '@mantine/core';
import { IconDeviceLaptop, IconFiles, IconFolder, IconServer } from '@tabler/icons-react';
import { useRef } from 'react';
import { useTexts } from '../../../i18n/index.ts';
import { addPaths, uploadAndAdd } from '../../../state/newRun/store.ts';
import { choosePaths, type Choice } from '../../../state/pathChooser.ts';
import { useSettings } from '../../../state/settings.ts';

const FILES: Choice = { kind: 'files', purpose: 'sequences' };
const FOLDER: Choice = { kind: 'folder', purpose: 'inputs' };

/** Buttons to pick files from this computer or, if the program runs on another one, from there. */
export function PickButtons({ primary = false }: { primary?: boolean }) {
  const { t } = useTexts();
  // A browser on the program's own computer picks files there, like the desktop app: nothing has to be sent.
  const remoteHost = useSettings(({ info }) =>
    info?.shell === 'browser' && !info.sameComputer ? info.hostName : null,
  );
  const picker = useRef<HTMLInputElement>(null);
  const pick = useMutation({
    mutationFn: async (choice: Choice) => addPaths(await choosePaths(choice)),
  });
  const look = primary
    ? ({ variant: 'filled' } as const)
    : ({ variant: 'default', size: 'compact-sm' } as const);
  const quiet = primary ? ({ variant: 'default' } as const) : look;
  if (remoteHost !== null) {
    return (
      <Group gap="sm" justify="center">
        <Menu>
          <Menu.Target>
            <Button {...look} leftSection={<IconFiles size={16} aria-hidden />}>
              {t('newRun.chooseFiles')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              leftSection={<IconDeviceLaptop size={16} aria-hidden />}
              onClick={() => picker.current?.click()}
            >
              {t('newRun.fromThisComputer', { host: remoteHost })}
            </Menu.Item>
            <Menu.Item leftSection={<IconServer size={16} aria-hidden />} onClick={() => pick.mutate(FILES)}>
              {t('newRun.fromServer', { host: remoteHost })}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
        <Button
          {...quiet}
          leftSection={<IconFolder size={16} aria-hidden />}
          onClick={() => pick.mutate(FOLDER)}
        >
          {t('newRun.chooseServerFolder', { host: remoteHost })}
        </Button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            const files = Array.from(event.currentTarget.files ?? []);
            event.currentTarget.value = '';
            void uploadAndAdd(files);
          }}
        />
      </Group>
    );
  }
  return (
    <Group gap="sm" justify="center">
      <Button {...look} leftSection={<IconFiles size={16} aria-hidden />} onClick={() => pick.mutate(FILES)}>
        {t('newRun.chooseFiles')}
      </Button>
      <Button
        {...quiet}
        leftSection={<IconFolder size={16} aria-hidden />}
        onClick={() => pick.mutate(FOLDER)}
      >
        {t('newRun.chooseFolder')}
      </Button>
    </Group>
  );
}
