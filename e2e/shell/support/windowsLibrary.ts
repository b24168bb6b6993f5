/** A library of Windows (32 bits) whose functions of these names do nothing: what compiling an installer asks of its plug-ins. */
export function windowsLibrary(functions: readonly string[]): Buffer {
  const names = [...functions].sort();
  // How Windows lays a library out in memory and in the file.
  const memory = 0x1000;
  const inFile = 0x200;
  const tables = 40;
  const addresses = tables;
  const namePlaces = addresses + 4 * names.length;
  const ordinals = namePlaces + 4 * names.length;
  const code = ordinals + 2 * names.length;
  const texts = Buffer.from(`library.dll\0${names.map((name) => `${name}\0`).join('')}`, 'latin1');
  const firstText = code + 4;
  const section = Buffer.alloc(Math.ceil((firstText + texts.length) / inFile) * inFile);
  texts.copy(section, firstText);
  section.writeUInt8(0xc3, code); // returns
  const put = (buffer: Buffer, values: Readonly<Record<number, number>>) => {
    for (const [place, value] of Object.entries(values)) buffer.writeUInt32LE(value, Number(place));
  };
  put(section, {
    12: memory + firstText,
    16: 1,
    20: names.length,
    24: names.length,
    28: memory + addresses,
    32: memory + namePlaces,
    36: memory + ordinals,
  });
  let text = firstText + 'library.dll\0'.length;
  names.forEach((name, index) => {
    section.writeUInt32LE(memory + code, addresses + 4 * index);
    section.writeUInt32LE(memory + text, namePlaces + 4 * index);
    section.writeUInt16LE(index, ordinals + 2 * index);
    text += name.length + 1;
  });

  const header = Buffer.alloc(inFile);
  header.write('MZ', 0, 'latin1');
  put(header, { 0x3c: 0x40 });
  header.write('PE\0\0', 0x40, 'latin1');
  const file = 0x44;
  header.writeUInt16LE(0x14c, file); // i386
  header.writeUInt16LE(1, file + 2); // one section
  header.writeUInt16LE(0xe0, file + 16);
  header.writeUInt16LE(0x2102, file + 18); // a library
  const optional = file + 20;
  header.writeUInt16LE(0x10b, optional);
  put(header, {
    [optional + 28]: 0x10000000,
    [optional + 32]: memory,
    [optional + 36]: inFile,
    [optional + 56]: memory + Math.ceil(section.length / memory) * memory,
    [optional + 60]: inFile,
    [optional + 92]: 16,
    [optional + 96]: memory,
    [optional + 100]: section.length,
  });
  const entry = optional + 0xe0;
  header.write('.edata', entry, 'latin1');
  put(header, {
    [entry + 8]: section.length,
    [entry + 12]: memory,
    [entry + 16]: section.length,
    [entry + 20]: inFile,
    [entry + 36]: 0x60000020,
  });
  return Buffer.concat([header, section]);
}
