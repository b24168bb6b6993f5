import classes from './ChartTip.module.css';

export function ChartTip({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <div className={classes.tip}>
      <strong>{title}</strong>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
