import { Button, PasswordInput, Text } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { SshQuestion } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { useTexts } from '../../i18n/index.ts';
import { useComputers } from '../../state/computer/computers.ts';
import { home } from '../../state/connection.ts';

/** Relays questions that OpenSSH asks while it connects: whether a host key is right, a password, a passphrase. */
export function ComputerQuestion() {
  for (const { address, link } of useComputers() ?? []) {
    if (link.state !== 'connecting' || link.question === null) continue;
    return <Question key={JSON.stringify(link.question)} address={address} question={link.question} />;
  }
  return null;
}

function Question({ address, question }: { address: string; question: SshQuestion }) {
  const { t } = useTexts();
  const [secret, setSecret] = useState('');
  const isKey = question.kind === 'host_key';
  const answer = (given: string | null) =>
    void home.computers.answer({ address, answer: given }).catch(sayError);
  return (
    <Dialog
      opened
      onClose={() => answer(null)}
      closeOnClickOutside={false}
      title={t(isKey ? 'computers.keyTitle' : 'computers.secretTitle', { name: address })}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          answer(isKey ? 'yes' : secret);
        }}
      >
        {isKey ? (
          <>
            <p>{t('computers.keyText', { host: question.host })}</p>
            <Text component="code" display="block" my={8} style={{ overflowWrap: 'anywhere' }}>
              {question.keyType} {question.fingerprint}
            </Text>
          </>
        ) : (
          <PasswordInput
            label={question.prompt}
            error={question.again && secret === '' ? t('computers.secretAgain') : null}
            value={secret}
            onChange={(event) => setSecret(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <p className="muted">{t(isKey ? 'computers.keyHelp' : 'computers.secretHelp')}</p>
        <DialogButtons onClose={() => answer(null)}>
          <Button type="submit">{t(isKey ? 'computers.keyYes' : 'computers.signIn')}</Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
