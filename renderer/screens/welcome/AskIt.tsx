import { Button } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';

/** The hosts from which Python, its packages and the weights are downloaded. */
const HOSTS = [
  'github.com',
  'pypi.org',
  'files.pythonhosted.org',
  'download.pytorch.org',
  'huggingface.co',
  'dl.fbaipublicfiles.com',
];

/** For users who cannot open network access themselves: a text that asks their IT department for it. */
export function AskIt() {
  const { t } = useTexts();
  const copy = useCopy();
  return (
    <Button
      variant="default"
      leftSection={<IconCopy size={16} aria-hidden />}
      onClick={() => copy.mutate(t('start.askIt.text', { hosts: HOSTS.join('\n') }))}
    >
      {t('start.askIt')}
    </Button>
  );
}
