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
import {
  computerNameSchema,
  sshAddressSchema,
  type ComputerLink,
  type OtherComputer,
} from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { DESTRUCTIVE } from '../../styles/theme.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Page } from '../../components/Page.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { useTexts } from '../../i18n/index.ts';
import { showComputer, useComputers } from '../../state/computer/computers.ts';
import { chosenComputer, home } from '../../state/connection.ts';
import classes from './Computers.module.css';

const LOOKS = {
  idle: ['neutral', IconCircleDashed],
  connecting: ['active', IconProgress],
  connected: ['good', IconCircleCheck],
  away: ['warn', IconAlertTriangle],
} as const;

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
        aside={
          chosenComputer === null ? (
            <span className="muted">{t('computers.shown')}</span>
          ) : (
            <Button size="compact-sm" onClick={() => showComputer(null)}>
              {t('computers.show')}
            </Button>
          )
        }
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

function ComputerCard({ computer: { id, name, address, link } }: { computer: OtherComputer }) {
  const { t } = useTexts();
  const [editing, setEditing] = useState<'name' | 'removal' | null>(null);
  const [newName, setNewName] = useState(name);
  const connect = useMutation({ mutationFn: () => home.computers.connect({ id }) });
  const disconnect = useMutation({ mutationFn: () => home.computers.disconnect({ id }) });
  const rename = useMutation({
    mutationFn: () => home.computers.add({ name: newName, address }),
    onSuccess: () => setEditing(null),
  });
  const remove = useMutation({
    mutationFn: (uninstalls: boolean) => home.computers.remove({ id, uninstalls }),
    onSuccess: () => {
      if (id === chosenComputer) showComputer(null);
    },
  });
  const [tone, icon] = LOOKS[link.state];
  const isOn =
    link.state === 'connected' || link.state === 'connecting' || (link.state === 'away' && link.again);
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
      <p className={classes.address}>
        <code>{address}</code>
        {link.state === 'connected' && (
          <span className="muted">
            {t('computers.version', { host: link.hostName, version: link.version })}
          </span>
        )}
      </p>
      <LinkDetails name={name} link={link} />
      {editing === 'name' && (
        <form
          className={classes.form}
          onSubmit={(event) => {
            event.preventDefault();
            rename.mutate();
          }}
        >
          <TextInput
            className={classes.field ?? ''}
            label={t('computers.name')}
            value={newName}
            onChange={(event) => setNewName(event.currentTarget.value)}
            data-autofocus
          />
          <Button type="submit" disabled={!computerNameSchema.safeParse(newName).success}>
            {t('common.save')}
          </Button>
        </form>
      )}
      {editing === 'removal' && <p>{t('computers.removeText', { name })}</p>}
      <Group gap="sm" mt="sm">
        {id !== chosenComputer && (
          <Button size="compact-sm" onClick={() => showComputer(id)}>
            {t('computers.show')}
          </Button>
        )}
        {!isOn && (
          <Button size="compact-sm" variant="default" onClick={() => connect.mutate()}>
            {t(link.state === 'away' ? 'common.tryAgain' : 'computers.connect')}
          </Button>
        )}
        {isOn && (
          <Button size="compact-sm" variant="default" onClick={() => disconnect.mutate()}>
            {t('computers.disconnect')}
          </Button>
        )}
        {editing === null && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="slate"
            onClick={() => {
              setNewName(name);
              setEditing('name');
            }}
          >
            {t('common.rename')}
          </Button>
        )}
        {editing === null && (
          <Button size="compact-sm" variant="subtle" color="slate" onClick={() => setEditing('removal')}>
            {t('common.remove')}
          </Button>
        )}
        {editing === 'removal' && (
          <Button
            size="compact-sm"
            {...DESTRUCTIVE}
            loading={remove.isPending}
            onClick={() => remove.mutate(false)}
          >
            {t('computers.removeNow')}
          </Button>
        )}
        {editing === 'removal' && (
          <Button
            size="compact-sm"
            {...DESTRUCTIVE}
            loading={remove.isPending}
            onClick={() => remove.mutate(true)}
          >
            {t('computers.uninstall')}
          </Button>
        )}
        {editing !== null && (
          <Button size="compact-sm" variant="subtle" color="slate" onClick={() => setEditing(null)}>
            {t('common.cancel')}
          </Button>
        )}
      </Group>
    </Card>
  );
}

/** Why the computer cannot be reached, or the progress of its connection. */
function LinkDetails({ name, link }: { name: string; link: ComputerLink }) {
  const { t } = useTexts();
  switch (link.state) {
    case 'idle':
      return null;
    case 'connected':
      return null;
    case 'connecting':
      return (
        <div role="status">
          <p>{t(`computers.step.${link.step}`, { name })}</p>
          <ProgressBar
            label={t(`computers.step.${link.step}`, { name })}
            fraction={link.fraction}
            tone="active"
          />
        </div>
      );
    case 'away':
      return (
        <ErrorCard
          bare
          error={link.error}
          actions={link.again ? <span className="muted">{t('computers.again')}</span> : <></>}
        />
      );
  }
}

function AddComputer() {
  const { t } = useTexts();
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const [wasTried, setTried] = useState(false);
  const isAddress = sshAddressSchema.safeParse(address.trim()).success;
  const add = useMutation({
    mutationFn: () =>
      home.computers.add({
        name: name.trim() === '' ? address.trim() : name.trim(),
        address: address.trim(),
      }),
    onSuccess: ({ id }) => showComputer(id),
  });
  const submit = (event: { preventDefault: () => void }) => {
    event.preventDefault();
    setTried(true);
    if (isAddress) add.mutate();
  };
  return (
    <Card title={t('computers.add')}>
      <p className="muted">{t('computers.addText')}</p>
      <form className={classes.form} onSubmit={submit}>
        <TextInput
          className={classes.field ?? ''}
          label={t('computers.address')}
          description={t('computers.addressHelp')}
          value={address}
          error={wasTried && !isAddress ? t('computers.addressWrong') : null}
          onChange={(event) => setAddress(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
        <TextInput
          className={classes.field ?? ''}
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
