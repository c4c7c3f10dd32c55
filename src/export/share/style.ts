// How a shared page looks: paper and ink, serif for what was said, sans around it, mono for evidence. Values as in the page's
// design tokens.

export const STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#fbfaf6,#151513);--sheet:light-dark(#f4f2ea,#1d1d1a);--ink:light-dark(#1c1b19,#e8e5dc);--quiet:light-dark(#6b675f,#a09b90);--rule:light-dark(#e4e0d6,#302f2b);--edge:light-dark(#c9c4b6,#4a4842);--accent:light-dark(#0b5d45,#6fcaa6);--oxblood:light-dark(#8c2318,#ee968b);--ochre:light-dark(#835800,#dcae5a);--added:light-dark(#e5efdf,#1c2a1d);--removed:light-dark(#f6e4df,#33201d);--serif:ui-serif,Charter,"Iowan Old Style","Source Serif 4 Variable","Source Serif 4",Georgia,"Noto Serif","DejaVu Serif",serif;--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",sans-serif;--mono:ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:16px}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/20px var(--sans);font-variant-numeric:tabular-nums}
main,header,footer{max-width:calc(74ch + 48px);margin:0 auto;padding:0 24px;overflow-wrap:anywhere}
header{padding-top:40px}
header::after{content:"";display:block;margin-top:16px;border-bottom:1px solid var(--rule)}
.brand{margin:0 0 24px;font-size:12px;line-height:16px;color:var(--quiet)}
.brand b{color:var(--ink);font-weight:600}
h1{margin:0 0 8px;font:600 22px/28px var(--sans);text-wrap:balance}
.facts{margin:0;color:var(--quiet)}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.2em}
a:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
article{margin:0}
article.prompt{margin-top:40px;margin-bottom:16px}
article.answer{margin-top:12px;margin-bottom:8px}
article.error,article.decision,article.feedback{margin:16px 0}
article:target>.speech,article:target>.row,article:target>.mark{border-left-color:var(--accent)}
.label{display:flex;gap:8px;align-items:baseline;margin:0 0 4px;font:400 12px/16px var(--sans);color:var(--quiet)}
.label b{font-weight:600;color:var(--ink)}
.label .at{margin-left:auto}
.label.again{float:right;margin:4px 0 0 16px}
.again b{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.at{display:inline-block;min-width:24px;padding:4px 0;margin:-4px 0;text-align:right;color:var(--quiet);text-decoration:none;font-size:12px;line-height:16px}
.at:hover{color:var(--accent);text-decoration:underline}
.speech{font:16px/25px var(--serif)}
.prompt>.speech{padding:12px 16px;background:var(--sheet);border-left:3px solid var(--ink)}
.speech>:first-child{margin-top:0}
.speech>:last-child{margin-bottom:0}
.speech p,.speech ul,.speech ol,.speech blockquote,.speech .scrolls{margin:0 0 12px}
.speech ul,.speech ol{padding-left:24px}
.speech li>p{margin-bottom:4px}
.speech blockquote{padding-left:16px;border-left:1px solid var(--edge);color:var(--quiet)}
.speech hr{border:0;border-top:1px solid var(--rule);margin:24px 0}
.plain{white-space:pre-wrap}
.heading{font-family:var(--sans);font-weight:600;font-size:14px;line-height:20px;margin-top:20px!important}
code{font:13px/20px var(--mono);background:var(--sheet);padding:1px 4px}
pre{margin:0 0 12px;padding:8px 12px;background:var(--sheet);font:13px/20px var(--mono);white-space:pre-wrap;overflow-wrap:anywhere;tab-size:2}
.scrolls{overflow-x:auto}
table{border-collapse:collapse;font:14px/20px var(--sans)}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{font-weight:600}
img{display:block;max-width:100%;max-height:480px;margin:8px 0;border:1px solid var(--rule)}
.row,.note,.mark{border-left:3px solid transparent;padding-left:13px}
.row>summary,.note>summary{display:flex;gap:8px;align-items:baseline;min-height:26px;padding:3px 0;cursor:pointer;list-style:none;font:13px/20px var(--mono)}
.row>summary::-webkit-details-marker,.note>summary::-webkit-details-marker{display:none}
.row>summary::before,.note>summary::before{content:"▸";color:var(--quiet);flex:none;width:10px}
.row[open]>summary::before,.note[open]>summary::before{content:"▾"}
.row .tool{flex:none;font:600 13px/20px var(--sans)}
.row .what{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:0}
.row[open] .what{white-space:pre-wrap;overflow-wrap:anywhere}
.row .how{margin-left:auto;flex:none;font:12px/20px var(--sans);color:var(--quiet)}
.note>summary{font:12px/20px var(--sans);color:var(--quiet)}
.note>summary .at{margin-left:auto}
.failed,.row .failed{color:var(--oxblood)}
.why{margin:0 0 4px 18px;font:13px/20px var(--mono);color:var(--oxblood);white-space:pre-wrap}
.row[open]+.why{display:none}
.row h3{margin:4px 0;font:400 12px/16px var(--sans);color:var(--quiet)}
del,ins{display:block;text-decoration:none;padding:0 4px;margin:0 -4px}
del{background:var(--removed)}ins{background:var(--added)}
.speech del{display:inline;text-decoration:line-through;background:none;padding:0;margin:0}
.error>.mark{border-left-color:var(--oxblood)}
.decision>.mark{border-left-color:var(--ochre)}
.error .plain,.decision .plain{margin:0;font:16px/25px var(--serif)}
.error .plain{font:13px/20px var(--mono)}
.line{display:flex;gap:12px;align-items:center;margin:24px 0;color:var(--quiet);font-size:12px;line-height:16px}
.line::before,.line::after{content:"";flex:1;border-top:3px double var(--edge)}
.withdrawn>*{opacity:.62}
.more{margin:0 0 12px;font-size:12px;line-height:16px;color:var(--quiet)}
footer{margin-top:64px;padding-bottom:64px;color:var(--quiet)}
footer::before{content:"";display:block;margin-bottom:24px;border-top:1px solid var(--rule)}
footer h2{margin:0 0 8px;font:600 14px/20px var(--sans);color:var(--ink)}
footer dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:16px 0}
footer dt{color:var(--quiet)}footer dd{margin:0;font:13px/20px var(--mono);color:var(--ink);overflow-wrap:anywhere}
footer p{margin:0 0 8px;max-width:66ch}
@media (max-width:560px){main,header,footer{padding-left:16px;padding-right:16px}.row .how{display:none}.row .at{margin-left:auto}.row.bad .how{display:block}.row.bad .at{margin-left:0}.speech{font-size:16px}footer dl{grid-template-columns:1fr;gap:0}footer dd{margin-bottom:8px}}
@media print{body{background:#fff}.row>summary::before,.note>summary::before{content:""}article{break-inside:avoid-page}}
`;
