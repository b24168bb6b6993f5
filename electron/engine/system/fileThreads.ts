/*
 * Imported for its side effect, and before anything else: Node starts its file threads when it first needs
 * one, and only then reads how many it may start. With the default of four, four disks that do not respond
 * would leave none and block the whole program. On Windows Node reads the variable before any of our code
 * runs, so there it keeps its four.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '32';
