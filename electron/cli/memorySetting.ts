/** For the command line's environment: else glibc keeps what each of the store's threads has given back for that thread alone, 60 MB in
 * a run of a million reads. */
export const MEMORY_SETTING = 'MALLOC_ARENA_MAX=2';
