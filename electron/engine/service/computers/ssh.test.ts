import { describe, expect, it } from 'vitest';
import { errorCodeSchema } from '../../../contract/errors.ts';
import { sshAddressSchema } from '../../../contract/rpc/computers.ts';
import { questionOf } from './askpass.ts';
import { isInstalled } from './remoteServer.ts';
import { mayPass, needsPerson, sshFailure, targetOf, type SshClient } from './sshClient.ts';

describe('an error of ssh', () => {
  // Printed by OpenSSH 9.2, with other names.
  it.each([
    ['ssh: Could not resolve hostname gpu.example: Name or service not known', 'ssh_name_unknown'],
    ['ssh: connect to host gpu.example port 22: Connection refused', 'ssh_unreachable'],
    ['ssh: connect to host gpu.example port 22: Connection timed out', 'ssh_unreachable'],
    ['ssh: connect to host gpu.example port 22: No route to host', 'ssh_unreachable'],
    ['anna@gpu.example: Permission denied (publickey,password).', 'ssh_denied'],
    ['Received disconnect from 192.0.2.1 port 22:2: Too many authentication failures', 'ssh_denied'],
    [
      '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nIT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\nHost key verification failed.',
      'ssh_host_key_changed',
    ],
    ['Host key verification failed.', 'ssh_host_key_refused'],
    ['Timeout, server gpu.example not responding.', 'ssh_unreachable'],
    ['Connection to gpu.example closed by remote host.', 'ssh_lost'],
    ['kex_exchange_identification: Connection closed by remote host', 'ssh_lost'],
    ['', 'ssh_lost'],
    ['command-line line 0: Bad configuration option: nonsense', 'ssh_failed'],
  ])('%s', (stderr, code) => {
    const error = sshFailure('gpu.example', stderr);
    expect(errorCodeSchema.parse(error.code)).toBe(code);
    expect(error.cause).toContain('gpu.example');
    expect(error.wording?.cause).toBeDefined();
  });

  it('asks a person only for what a person can provide, and retries only temporary failures', () => {
    const denied = sshFailure('x', 'Permission denied (publickey).');
    const changed = sshFailure('x', 'REMOTE HOST IDENTIFICATION HAS CHANGED!');
    const away = sshFailure('x', 'Network is unreachable');
    expect([denied, changed, away].map(needsPerson)).toEqual([true, false, false]);
    expect([denied, changed, away].map(mayPass)).toEqual([false, false, true]);
  });
});

describe('a question of ssh', () => {
  it('is recognized as a host key, with its fingerprint', () => {
    const prompt =
      "The authenticity of host '[10.0.0.2]:2222 ([10.0.0.2]:2222)' can't be established.\nED25519 key fingerprint is SHA256:3o0ZQ8pPV4QH1rTqnZr1kYbYw7nKfTj0m5vI2kqg8uU.\nThis key is not known by any other names.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? ";
    expect(questionOf(prompt)).toEqual({
      kind: 'host_key',
      host: '[10.0.0.2]:2222 ([10.0.0.2]:2222)',
      keyType: 'ED25519',
      fingerprint: 'SHA256:3o0ZQ8pPV4QH1rTqnZr1kYbYw7nKfTj0m5vI2kqg8uU',
    });
  });

  it('is otherwise a secret with the original prompt', () => {
    const prompt = "Enter passphrase for key '/home/anna/.ssh/id_ed25519': ";
    expect(questionOf(prompt)).toEqual({ kind: 'secret', prompt: prompt.trim(), again: false });
  });
});

describe('the address of a computer', () => {
  it.each(['gpu', 'anna@gpu.example.org', 'anna@gpu:2222', 'ssh://anna@gpu:2222', 'müller@[2001:db8::1]:22'])(
    '%s is valid',
    (address) => {
      expect(sshAddressSchema.safeParse(address).success).toBe(true);
    },
  );

  it.each(['-oProxyCommand=touch x', 'a b', 'a;b', '$(b)', '`b`', 'a|b', "a'b", 'a"b', 'a%h', 'a\nb', ''])(
    '%s is invalid',
    (address) => {
      expect(sshAddressSchema.safeParse(address).success).toBe(false);
    },
  );

  it('with a port is passed to ssh in a form that it accepts', () => {
    expect(targetOf('anna@gpu:2222')).toBe('ssh://anna@gpu:2222');
    expect(targetOf('[2001:db8::1]:22')).toBe('ssh://[2001:db8::1]:22');
    expect(targetOf('anna@gpu')).toBe('anna@gpu');
    expect(targetOf('ssh://gpu:22')).toBe('ssh://gpu:22');
  });
});

describe('another computer', () => {
  const printed = 'Welcome to the cluster!\nvirnucpro:system=Linux x86_64, glibc 2.36\n';
  const look = (lines: string) =>
    isInstalled({ address: 'gpu', run: () => Promise.resolve(lines) } as unknown as SshClient, 'a');

  it('describes itself, among other lines that its login prints', async () => {
    expect(await look(printed)).toBe(false);
    expect(await look(`${printed}virnucpro:installed\n`)).toBe(true);
  });

  it.each([
    ['Linux x86_64', 'Darwin arm64', 'Darwin arm64'],
    ['glibc 2.36', 'glibc 2.17', 'glibc'],
    ['glibc 2.36', '', 'glibc'],
    [printed, 'This account is currently not available.', 'commands'],
  ])('is refused if %s is %s', async (usual, other, named) => {
    await expect(look(printed.replace(usual, other))).rejects.toThrow(named);
  });
});
