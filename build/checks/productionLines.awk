# Lines of production code by what they do: see docs/decisions/0013. A file counts in the first row that its path fits.
#   git grep -I -c '' COMMIT | cut -d: -f2- | awk -F: -f build/checks/productionLines.awk
$1 !~ /\.(ts|tsx|mjs|js|css|py)$|^renderer\/i18n\/.*\.json$/ { next }
$1 ~ /\.(test|spec)\.|(^|\/)(tests|testing|benchmarks|tools|training)\/|^(e2e|build|packaging|docs|resources)\/|^[^\/]+$/ { next }
function row(path) {
  if (path ~ /\.css$/) return "style sheets"
  if (path ~ /^renderer\/i18n\//) return "texts of the window, English and German"
  if (path ~ /\/encoders\//) return "encoders and kernels"
  if (path ~ /\/legacy\/|imported|importLegacy|legacyTool/) return "results of the original tool, taken over"
  if (path ~ /slurm|cluster|\/ray|shares?\/|mergeRuns|mergeShares|scheduler|[pP]ool/) return "SLURM, Ray and shares"
  if (path ~ /fidelity|self[tT]est|computer-check|check\/|[cC]ontrols|[cC]alibrat|ModelTests|CheckPart|computer\/checks?\.ts/) return "checks, controls and calibration"
  if (path ~ /virnucpro_backend\/(inference\/|worker)/) return "worker: batches and scores"
  if (path ~ /\/weights\/|(engine|screens)\/models\/|[wW]eights|safetensors/) return "models and weights"
  if (path ~ /engine\/inputs\/|prepare|inspect|sampleSheet/) return "reading input files"
  if (path ~ /engine\/(environment|setup)\/|screens\/(offline|welcome)\/|[oO]ffline|[sS]etUp|environment/) return "set-up, Python environment, offline folders"
  if (path ~ /(virnucpro_backend|engine)\/devices\/|[dD]evice|[gG]pu|doctor|computer-check|diagnostics/) return "devices"
  if (path ~ /computers/) return "other computers by SSH"
  if (path ~ /engine\/(store|results)\/|resultsRouter|query|filter/) return "results: rules, queries, database"
  if (path ~ /screens\/results\/|components\/(charts|table)\/|state\/results\//) return "results: screens"
  if (path ~ /[eE]xport|[oO]therT|[cC]ompar|[rR]eport|blast|citations/) return "exports, report, comparison"
  if (path ~ /engine\/(run|workers|processes)\/|protocol\//) return "one run: start, work, end"
  if (path ~ /engine\/service\//) return "all runs: list, queue, questions"
  if (path ~ /screens\/(run|history|new-run|files)\/|state\/(runs|newRun)\//) return "runs, new run, files: screens"
  if (path ~ /^renderer\//) return "window: frame, settings, components"
  if (path ~ /^electron\/cli\//) return "command line"
  if (path ~ /^electron\/server\//) return "browser mode"
  if (path ~ /^electron\/(main|preload)\//) return "desktop shell"
  if (path ~ /^electron\/contract\//) return "contract"
  return "files, system, formats, the rest"
}
{ lines[row($1)] += $2; all += $2 }
END { for (name in lines) print lines[name], name; print all, "all" }
