import type { ReactNode } from 'react';
import { Box } from '@mantine/core';

interface FiguresProps {
  title: string;
  head: readonly string[];
  /** The first cell of each names the row. */
  rows: readonly (readonly ReactNode[])[];
  height?: number;
}

/** A table of figures that scrolls by itself. */
export function Figures({ title, head, rows, height }: FiguresProps) {
  return (
    <Box mah={height} style={{ overflow: 'auto' }} tabIndex={0} role="group" aria-label={title}>
      <table className="figures">
        <caption>{title}</caption>
        <thead>
          <tr>
            {head.map((name, i) => (
              <th key={i} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells], row) => (
            <tr key={row}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td key={i}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Box>
  );
}
