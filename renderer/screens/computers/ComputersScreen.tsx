import { Button, Group, TextInput } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconDeviceLaptop,
  IconProgress,
  IconServer2,
} from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sshAddressSchema, type OtherComputer } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { DESTRUCTIVE } from '../../styles/theme.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Page } from '../../components/Page.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { useTexts } from '../../i18n/index.ts';
import { showComputer, useComputers } from '../../state/computer/computers.ts';
import { chosenComputer, home } from '../../state/connection.ts';
import { sayError } from '../../state/say.ts';
import classes from './Computers.module.css';

const LOOKS = {
  idle: ['neutral', IconCircleDashed],
  connecting: ['active', IconProgress],
  connected: ['good', IconCircleCheck],
  away: ['warn', IconAlertTriangle],
} as const;

const QUIET = { size: 'compact-sm', variant: 'subtle', color: 'slate' } as const;

/** This computer and those that are reached by SSH: which of them the window shows, and how to add one. */
export function ComputersScreen() {
  const { t } = useTexts();
  const computers = useComputers();
  return (
    <Page narrow title={t('nav.computers')} lead={t('computers.lead')}>
      <Card
        title={
          <span className={classes.name}>
            <IconDeviceLaptop size={20} aria-hidden /> {t('computers.this')}
          </span>
        }
        aside={chosenComputer === null ? t('computers.shown') : <Show id={null} />}
      >
        <p className="muted">{t('computers.thisText')}</p>
      </Card>
      {computers?.map((computer) => (
        <ComputerCard key={computer.id} computer={computer} />
      ))}
      <AddComputer />
    </Page>
  );
}

function Show({ id }: { id: string | null }) {
  const { t } = useTexts();
  return (
    <Button size="compact-sm" onClick={() => showComputer(id)}>
      {t('computers.show')}
    </Button>
  );
}

function ComputerCard({ computer: { id, name, address, link } }: { computer: OtherComputer }) {
  const { t } = useTexts();
  const [isRemoving, setRemoving] = useState(false);
  const remove = useMutation({
    mutationFn: (uninstalls: boolean) => home.computers.remove({ id, uninstalls }),
    onSuccess: () => {
      if (id === chosenComputer) showComputer(null);
    },
  });
  const [tone, icon] = LOOKS[link.state];
  const isOff = link.state === 'idle' || (link.state === 'away' && !link.again);
  const toggle = () => home.computers[isOff ? 'connect' : 'disconnect']({ id }).catch(sayError);
  const step = link.state === 'connecting' ? t(`computers.step.${link.step}`, { name }) : '';
  return (
    <Card
      title={
        <span className={classes.name}>
          <IconServer2 size={20} aria-hidden /> {name}
        </span>
      }
      aside={
        <Badge tone={tone} icon={icon}>
          {t(`computers.state.${link.state}`)}
        </Badge>
      }
    >
      <p className={classes.name}>
        <code>{address}</code>
        {link.state === 'connected' && (
          <span className="muted">
            {t('computers.version', { host: link.hostName, version: link.version })}
          </span>
        )}
      </p>
      {link.state === 'connecting' && (
        <div role="status">
          <p>{step}</p>
          <ProgressBar label={step} fraction={link.fraction} tone="active" />
        </div>
      )}
      {link.state === 'away' && (
        <ErrorCard
          bare
          error={link.error}
          actions={link.again ? <span className="muted">{t('computers.again')}</span> : <></>}
        />
      )}
      {isRemoving && <p>{t('computers.removeText', { name })}</p>}
      <Group gap="sm" mt="sm">
        {isRemoving ? (
          [false, true].map((uninstalls) => (
            <Button
              key={String(uninstalls)}
              size="compact-sm"
              {...DESTRUCTIVE}
              loading={remove.isPending}
              onClick={() => remove.mutate(uninstalls)}
            >
              {t(uninstalls ? 'computers.uninstall' : 'computers.removeNow')}
            </Button>
          ))
        ) : (
          <>
            {id !== chosenComputer && <Show id={id} />}
            <Button size="compact-sm" variant="default" onClick={() => void toggle()}>
              {isOff
                ? t(link.state === 'away' ? 'common.tryAgain' : 'computers.connect')
                : t('computers.disconnect')}
            </Button>
          </>
        )}
        <Button {...QUIET} onClick={() => setRemoving(!isRemoving)}>
          {t(isRemoving ? 'common.cancel' : 'common.remove')}
        </Button>
      </Group>
    </Card>
  );
}

function AddComputer() {
  const { t } = useTexts();
  const [name, setName] = useState('');
  const [typed, setTyped] = useState('');
  const [wasTried, setTried] = useState(false);
  const address = typed.trim();
  const isAddress = sshAddressSchema.safeParse(address).success;
  const add = useMutation({
    mutationFn: () => home.computers.add({ name: name.trim() || address, address }),
    onSuccess: ({ id }) => showComputer(id),
  });
  return (
    <Card title={t('computers.add')}>
      <p className="muted">{t('computers.addText')}</p>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (isAddress) add.mutate();
        }}
      >
        <TextInput
          flex="1 1 240px"
          label={t('computers.address')}
          description={t('computers.addressHelp')}
          value={typed}
          error={wasTried && !isAddress ? t('computers.addressWrong') : null}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
        <TextInput
          flex="1 1 240px"
          label={t('computers.name')}
          description={t('computers.nameHelp')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
        />
        <Button type="submit" loading={add.isPending}>
          {t('computers.addNow')}
        </Button>
      </form>
    </Card>
  );
}
