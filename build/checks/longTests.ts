/** Set to 1, the test runners take the tests named `*.long.*` and no others; else all others. */
export const LONG_TESTS = 'VIRNUCPRO_LONG_TESTS';

export const onlyLongTests = process.env[LONG_TESTS] === '1';
