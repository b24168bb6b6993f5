import { Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sshAddressSchema, type OtherComputer } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Page } from '../../components/Page.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { StateBadge } from '../../components/feedback/StateBadge.tsx';
import { useTexts } from '../../i18n/index.ts';
import { showComputer, useComputers } from '../../state/computer/computers.ts';
import { chosenComputer, home } from '../../state/connection.ts';
import { sayError } from '../../state/say.ts';

const SMALL = { size: 'compact-sm' } as const;

/** This computer and those that are reached by SSH: which of them the window shows, and how to add one. */
export function ComputersScreen() {
  const { t } = useTexts();
  return (
    <Page narrow title={t('nav.computers')} lead={t('computers.lead')}>
      <Card
        title={t('computers.this')}
        aside={chosenComputer === null ? t('computers.shown') : <Show address={null} />}
      >
        <p className="muted">{t('computers.thisText')}</p>
      </Card>
      {useComputers()?.map((computer) => (
        <ComputerCard key={computer.address} computer={computer} />
      ))}
      <AddComputer />
    </Page>
  );
}

function Show({ address }: { address: string | null }) {
  const { t } = useTexts();
  return (
    <Button {...SMALL} onClick={() => showComputer(address)}>
      {t('computers.show')}
    </Button>
  );
}

function ComputerCard({ computer: { address, link } }: { computer: OtherComputer }) {
  const { t } = useTexts();
  const remove = async () => {
    await home.computers.remove({ address });
    if (address === chosenComputer) showComputer(null);
  };
  const isOff = link.state === 'idle' || (link.state === 'away' && !link.again);
  const act = isOff ? 'connect' : 'disconnect';
  const toggle = () => home.computers[act]({ address });
  const step = link.state === 'connecting' ? t(`computers.step.${link.step}`, { name: address }) : '';
  return (
    <Card title={address} aside={<StateBadge state={`computers.state.${link.state}`} />}>
      {link.state === 'connected' && <p className="muted">{t('computers.version', link)}</p>}
      {link.state === 'connecting' && (
        <div role="status">
          <p>{step}</p>
          <ProgressBar label={step} fraction={link.fraction} />
        </div>
      )}
      {link.state === 'away' && <ErrorCard bare error={link.error} actions={<></>} />}
      {link.state === 'away' && link.again && <p className="muted">{t('computers.again')}</p>}
      <Group gap="sm" mt="sm">
        {address !== chosenComputer && <Show address={address} />}
        <Button {...SMALL} variant="default" onClick={() => void toggle().catch(sayError)}>
          {t(link.state === 'away' && isOff ? 'common.tryAgain' : `computers.${act}`)}
        </Button>
        <Button {...SMALL} variant="subtle" color="gray" onClick={() => void remove().catch(sayError)}>
          {t('computers.remove')}
        </Button>
      </Group>
    </Card>
  );
}

function AddComputer() {
  const { t } = useTexts();
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const address = typed.trim();
  const add = useMutation({
    mutationFn: () => home.computers.add({ address }),
    onSuccess: () => showComputer(address),
  });
  return (
    <Card title={t('computers.add')}>
      <p className="muted">{t('computers.addText')}</p>
      <Group
        component="form"
        mt={12}
        gap={12}
        align="flex-end"
        onSubmit={(event) => {
          event.preventDefault();
          const isAddress = sshAddressSchema.safeParse(address).success;
          setWrong(!isAddress);
          if (isAddress) add.mutate();
        }}
      >
        <TextInput
          flex="1 1 240px"
          label={t('computers.address')}
          description={t('computers.addressHelp')}
          value={typed}
          error={isWrong && t('computers.addressWrong')}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" loading={add.isPending}>
          {t('computers.addNow')}
        </Button>
      </Group>
    </Card>
  );
}
