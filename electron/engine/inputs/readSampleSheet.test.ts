import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { matchSheet, type SheetRow } from '../../contract/samples.ts';
import { temporaryFolder } from '../testing/testContext.ts';
import { isSampleSheet, readSampleSheet } from './readSampleSheet.ts';

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(temporaryFolder(), name);
  await writeFile(path, content);
  return path;
}

/**
 * Builds a workbook like those of spreadsheet programs: shared strings, a number, an empty cell, a boolean.
 */
function workbook(more: Record<string, Uint8Array> = {}): Uint8Array {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const packed = 'http://schemas.openxmlformats.org/package/2006';
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  const parts = {
    '[Content_Types].xml': `${head}<Types xmlns="${packed}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="${type}.sharedStrings+xml"/></Types>`,
    '_rels/.rels': `${head}<Relationships xmlns="${packed}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${head}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="Plate" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${head}<Relationships xmlns="${packed}/relationships"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relations}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/sharedStrings.xml': `${head}<sst xmlns="${main}" count="7" uniqueCount="7">${['Datei', 'Probe', 'Gruppe', 'Kontrolle', 'a.fa', 'Käfer & Co', 'b.fa'].map((text) => `<si><t>${text.replace('&', '&amp;')}</t></si>`).join('')}</sst>`,
    'xl/worksheets/sheet1.xml': `${head}<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c></row><row r="2"><c r="A2" t="s"><v>4</v></c><c r="B2" t="s"><v>5</v></c></row><row r="3"><c r="A3" t="s"><v>6</v></c><c r="B3"><v>12</v></c><c r="C3"><v>7</v></c><c r="D3" t="b"><v>1</v></c></row></sheetData></worksheet>`,
  };
  const asBytes = Object.entries(parts).map(([name, text]) => [name, strToU8(text)] as const);
  return zipSync({ ...Object.fromEntries(asBytes), ...more });
}

const row = (file: string, sample: string, more: Partial<SheetRow> = {}): SheetRow => ({
  ...{ file, sample, group: null, note: null, control: false },
  ...more,
});

describe('a sample sheet', () => {
  it.each([
    ['commas', 'file,sample,group,note,control\na.fa,S1,gut,"day 3, left",no\n\nb.fa,S2,gut,,YES\n'],
    [
      'semicolons and a mark of byte order',
      '\uFEFFFile;Sample;Group;Note;Control\r\na.fa;S1;gut;day 3, left;\r\nb.fa;S2;gut;;x\r\n',
    ],
    [
      'tabs, in another order',
      'control\tnote\tsample\tfile\tgroup\n0\tday 3, left\tS1\t a.fa \tgut\n1\t\tS2\tb.fa\tgut\n',
    ],
  ])('is read with %s', async (_, text) => {
    const path = await written('samples.csv', text);
    expect(await isSampleSheet(path)).toBe(true);
    expect(await readSampleSheet(path)).toEqual({
      ok: true,
      value: [
        row('a.fa', 'S1', { group: 'gut', note: 'day 3, left' }),
        row('b.fa', 'S2', { group: 'gut', control: true }),
      ],
    });
  });

  it('is read as a workbook, with German headings, numbers and truth values', async () => {
    const path = await written('samples.xlsx', workbook());
    expect(await isSampleSheet(path)).toBe(true);
    expect(await readSampleSheet(path)).toEqual({
      ok: true,
      value: [row('a.fa', 'Käfer & Co'), row('b.fa', '12', { group: '7', control: true })],
    });
  });

  it('reports the line and column of a fault', async () => {
    const faults = {
      'sample,group\nS1,gut\n': ['sheet.column_missing', { column: 'file' }],
      'file,sample,contrl\na.fa,S1,yes\n': ['sheet.column_unknown', { title: 'contrl' }],
      'file,sample,Sample\na.fa,S1,S2\n': ['sheet.column_twice', { title: 'Sample' }],
      'file,sample\na.fa,\n': ['sheet.cell_empty', { line: 2, column: 'sample' }],
      'file,sample,control\na.fa,S1,maybe\n': ['sheet.control', { line: 2, value: 'maybe' }],
      'file,sample\na.fa,S1\na.fa,S2\n': ['sheet.file_twice', { line: 3, before: 2 }],
      'file,sample,group\na.fa,S1,x\nb.fa,S1,y\n': ['sheet.sample_differs', { line: 3, before: 2 }],
      'file,sample\n': ['sheet.no_lines', {}],
    } as const;
    for (const [text, [key, values]] of Object.entries(faults)) {
      const read = await readSampleSheet(await written('samples.csv', text));
      expect(!read.ok && read.error, text).toMatchObject({
        code: 'sample_sheet',
        wording: { cause: { key, values: { name: 'samples.csv', ...values } } },
      });
    }
  });

  it('is not any other table, a fake workbook, a folder, or a file that unpacks to more than a list can contain', async () => {
    // Its table of contents claims that the last file unpacks to 2 GB.
    const bomb = workbook({ 'xl/more.xml': new Uint8Array(1000) });
    const entry = Buffer.from(bomb).lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    new DataView(bomb.buffer, bomb.byteOffset).setUint32(entry + 24, 2 ** 31, true);
    const others = {
      'genomad.tsv': 'seq_name\tvirus_score\nc1\t0.9\n',
      'false.xlsx': 'file,sample\n',
      'binary.csv': new Uint8Array([0, 1, 2, 10]),
      'bomb.xlsx': bomb,
    };
    for (const [name, content] of Object.entries(others)) {
      const path = await written(name, content);
      expect(await isSampleSheet(path), name).toBe(false);
      expect(await readSampleSheet(path), name).toMatchObject({ ok: false, error: { code: 'sample_sheet' } });
    }
    const folder = join(temporaryFolder(), 'samples.csv');
    await mkdir(folder);
    expect(await isSampleSheet(folder)).toBe(false);
  });

  it('matches files by the part of the path that it gives, and both mates of a pair by either one', () => {
    const [s1, s2, s3, away] = [
      row('a_R1.fq', 'S1'),
      row('x/b.fa', 'S2'),
      row('b.fa', 'S3'),
      row('c.fa', 'S4'),
    ];
    const paths = ['/d/x/a_R1.fq', '/d/x/a_R2.fq', '/d/x/b.fa', '/d/y/b.fa'];
    const match = matchSheet([s1, s2, s3, away], paths);
    expect([...match.rows]).toEqual(
      expect.arrayContaining([
        ['/d/x/a_R1.fq', s1],
        ['/d/x/a_R2.fq', s1],
        ['/d/x/b.fa', s2],
      ]),
    );
    expect(match).toMatchObject({ missing: [away], ambiguous: [s3], unnamed: ['/d/y/b.fa'] });
  });
});
