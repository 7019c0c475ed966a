// The page around the report: its style, for light and dark, and the script that sorts tables and shows tooltips.

const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--card:#f7f8fa;--ink:#1b2330;--soft:#5b6675;--rule:#dfe3e9;--demand:#c9d3e0;--strong:#3d4c63;
--c1:#0b6bcb;--c2:#c2410c;--c3:#15803d;--c4:#9333ea;--c5:#a16207;--c6:#be185d}
@media(prefers-color-scheme:dark){:root{--paper:#12161d;--card:#1a202a;--ink:#e6eaf0;--soft:#9aa6b6;--rule:#2c3542;--demand:#33415a;--strong:#b9c6d9;
--c1:#5aa9f5;--c2:#fb923c;--c3:#4ade80;--c4:#c084fc;--c5:#facc15;--c6:#f472b6}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1104px;margin:0 auto;padding:32px 16px 64px}
.over{color:var(--soft);font-size:14px;margin:0 0 8px}
h1{font-size:clamp(20px,2.6vw,28px);line-height:1.3;font-weight:650;margin:0 0 24px;text-wrap:pretty}
h2{font-size:18px;margin:40px 0 4px}
p{margin:0 0 12px;max-width:75ch}
.note{color:var(--soft);font-size:14px}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:0 0 8px}
dl div{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 14px}
dt{color:var(--soft);font-size:13px}
dd{margin:0;font-size:19px;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd.long{font-size:15px}
dd small{display:block;font-size:13px;font-weight:400;color:var(--soft)}
figure{margin:12px 0 0;overflow-x:auto}
figure svg{min-width:640px}.pair svg{min-width:0}
svg{display:block;width:100%;height:auto;font-family:inherit}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:16px}
.grid{stroke:var(--rule);stroke-width:1}.axis,.mark{stroke:var(--soft);stroke-width:1}
.tick{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.title{fill:var(--soft);font-size:13px}
.label{fill:var(--ink);font-size:13px;font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.demand{fill:var(--demand)}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.thin{stroke-width:1.5}.strong{stroke:var(--strong)}
.limit{stroke-width:2;stroke-dasharray:6 4}
.tried{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 4}
.hit{fill:transparent}.hit:hover{fill:var(--ink);fill-opacity:.07}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px;margin:8px 0 0;padding:0;list-style:none}
.key{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:8px;vertical-align:-1px}
.wide{overflow-x:auto;margin-top:12px}
table{border-collapse:collapse;width:100%;font-size:15px;font-variant-numeric:tabular-nums}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;padding:7px 12px;border-bottom:1px solid var(--rule);white-space:nowrap}
th{border-bottom:2px solid var(--soft);padding:0}
th button{all:unset;cursor:pointer;display:block;width:100%;box-sizing:border-box;padding:7px 12px;font-size:13px;font-weight:600;color:var(--soft)}
th button:hover{color:var(--ink)}th button:focus-visible{outline:2px solid var(--c1);outline-offset:-2px}
th[aria-sort=ascending] button::after{content:" ↑"}th[aria-sort=descending] button::after{content:" ↓"}
.number,.number button{text-align:right}
tbody tr:hover{background:var(--card)}
code{font:14px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
ul.caveats{padding-left:20px;margin:8px 0 0;max-width:80ch}.caveats li{margin-bottom:6px}
#tip{position:fixed;z-index:1;pointer-events:none;white-space:pre;background:var(--ink);color:var(--paper);font-size:13px;line-height:1.45;padding:7px 10px;border-radius:6px;font-variant-numeric:tabular-nums}
footer{margin-top:48px;color:var(--soft);font-size:13px}
@media print{.hit{display:none}main{padding:0}}
`

const SCRIPT = `
const tip = document.getElementById('tip')
document.addEventListener('pointermove', (event) => {
  const text = event.target.dataset?.tip
  tip.hidden = !text
  if (!text) return
  tip.textContent = text
  const { width, height } = tip.getBoundingClientRect()
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + 'px'
  tip.style.top = (event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18) + 'px'
})
for (const button of document.querySelectorAll('.sorts th button')) {
  button.addEventListener('click', () => {
    const head = button.closest('th')
    const body = head.closest('table').tBodies[0]
    const isUp = head.getAttribute('aria-sort') === 'descending'
    for (const other of head.parentElement.children) other.removeAttribute('aria-sort')
    head.setAttribute('aria-sort', isUp ? 'ascending' : 'descending')
    const valueOf = (row) => row.cells[head.cellIndex].dataset.value
    const compare = (a, b) => {
      const [one, other] = [valueOf(a), valueOf(b)]
      const numbers = Number(one) - Number(other)
      return Number.isNaN(numbers) ? one.localeCompare(other) : numbers
    }
    const rows = [...body.rows].sort((a, b) => (isUp ? compare(a, b) : compare(b, a)))
    body.append(...rows)
  })
}
`

/** A whole document; it may load nothing. */
export function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
<div id="tip" role="tooltip" hidden></div>
<script>${SCRIPT}</script>
</body>
</html>
`
}
