/**
 * Names of the few messages that do not use the port. The preload script must not import our modules, so it
 * repeats them.
 */
export const CHANNELS = {
  connect: 'virnucpro:connect',
  port: 'virnucpro:port',
  givenPath: 'virnucpro:given-path',
} as const;
