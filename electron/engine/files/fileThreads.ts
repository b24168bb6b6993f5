/*
 * Imported for what it does, and before anything else: Node starts its threads for files when it first needs one, and reads then how many it
 * may start. Of its usual four, four disks that do not answer leave none, and the whole program waits with them. On Windows Node reads the
 * variable before any program of ours runs, so there it keeps its four.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '32';
