/** If this is 1, the test runners run only the tests named `*.long.*`; otherwise all others. */
export const LONG_TESTS = 'VIRNUCPRO_LONG_TESTS';

export const onlyLongTests = process.env[LONG_TESTS] === '1';
