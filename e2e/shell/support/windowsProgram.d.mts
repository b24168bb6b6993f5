/** A program for Windows that holds nothing but its version, beside which packing writes the archive's checksum. */
export function windowsProgram(): Buffer;
