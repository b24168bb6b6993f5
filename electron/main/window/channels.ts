/** Names of the few messages that go past the port. The preload script, which may import nothing of ours, spells them too. */
export const CHANNELS = {
  connect: 'virnucpro:connect',
  port: 'virnucpro:port',
  givenPath: 'virnucpro:given-path',
} as const;
