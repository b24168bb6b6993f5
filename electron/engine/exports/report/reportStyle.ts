/**
 * The style of a page that is read on a screen and printed on A4; it uses only system fonts, so that nothing
 * is loaded.
 */
export const REPORT_STYLE = `
@page { size: A4; margin: 16mm 15mm; }
* { box-sizing: border-box; }
html { color-scheme: light; }
body { margin: 0 auto; padding: 24px; max-width: 820px; color: #1c1e21; background: #fff;
  font: 14px/1.45 system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
h1 { margin: 0; font-size: 24px; overflow-wrap: anywhere; }
h2 { margin: 26px 0 8px; padding-bottom: 4px; border-bottom: 1px solid #c9ccd1; font-size: 17px; break-after: avoid; }
header p { margin: 4px 0 0; color: #4b5056; }
p.caution { margin-top: 12px; padding: 10px 12px; border: 2px solid #a63f00; color: #7a2e00; background: #fff4ec; }
.watermark { position: fixed; inset: 0; z-index: 1; display: grid; place-items: center; pointer-events: none;
  font-size: min(190px, 36vw); font-weight: 800; color: rgba(200, 81, 10, 0.11); transform: rotate(-32deg); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 16px; margin: 0 0 12px; }
dl.long { grid-template-columns: 90px 1fr; gap: 8px 16px; }
dt { color: #4b5056; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 12.5px; }
th, td { padding: 3px 6px; border-bottom: 1px solid #e3e5e8; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { border-bottom-color: #9aa0a6; overflow-wrap: normal; }
tfoot td { font-weight: 600; border-top: 1px solid #9aa0a6; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr, figure, li { break-inside: avoid; }
thead { display: table-header-group; }
figure { margin: 14px 0; }
figcaption { font-weight: 600; font-size: 13px; margin-bottom: 4px; }
svg { display: block; width: 100%; height: auto; font-size: 11px; fill: #1c1e21; }
.ribbon svg { width: 90px; height: 14px; }
.key { margin-right: 16px; font-weight: 400; }
.key i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 2px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.note { color: #4b5056; font-size: 12.5px; }
.copy { padding: 10px 12px; background: #f3f4f6; border-left: 3px solid #9aa0a6; }
code { font: 11px/1.4 ui-monospace, 'SF Mono', Consolas, monospace; overflow-wrap: anywhere; }
.sums td:first-child { width: 38%; }
a { color: #1d5c8c; overflow-wrap: anywhere; }
li { margin: 4px 0; }
@media screen and (max-width: 520px) { body { padding: 12px; } table { font-size: 10px; } th, td { padding: 3px 2px; }
  .ribbon { display: none; } th, th.n { white-space: normal; overflow-wrap: break-word; } dl.long { grid-template-columns: 1fr; } }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt; } table { font-size: 9pt; } }
`;
