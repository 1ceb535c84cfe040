package flame

// hues are the classes h0 to h5.
const hues = 6

// style names nothing outside .flame: in a page, it holds for the whole page.
const style = `
.flame{width:100%;height:auto;max-width:1200px}
.flame .bg{fill:#fff}
.flame text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1d1d1f;pointer-events:none}
.flame .t{font-weight:bold;font-size:14px}
.flame g rect{stroke:#fff;stroke-width:.6}
.flame g:hover rect{stroke:#1d1d1f;stroke-width:1.2}
.flame .z rect{fill:#d9d9de}
.flame .r rect{fill:#c3cfdf}
.flame .h0 rect{fill:#f5c48a}
.flame .h1 rect{fill:#f2b09c}
.flame .h2 rect{fill:#ecd37c}
.flame .h3 rect{fill:#e9bcc0}
.flame .h4 rect{fill:#d9cf9c}
.flame .h5 rect{fill:#f0c9ac}
.flame .p1 rect{fill:#f8d3cc}
.flame .p2 rect{fill:#f2a598}
.flame .p3 rect{fill:#e87b6b}
.flame .m1 rect{fill:#d0def5}
.flame .m2 rect{fill:#a3c0ee}
.flame .m3 rect{fill:#78a4e6}
@media screen and (prefers-color-scheme:dark){
.flame .bg{fill:#16171a}
.flame text{fill:#ececf0}
.flame g rect{stroke:#16171a}
.flame g:hover rect{stroke:#ececf0}
.flame .z rect{fill:#3d3e45}
.flame .r rect{fill:#384961}
.flame .h0 rect{fill:#7a4d12}
.flame .h1 rect{fill:#823a24}
.flame .h2 rect{fill:#665208}
.flame .h3 rect{fill:#75383f}
.flame .h4 rect{fill:#5a5022}
.flame .h5 rect{fill:#74482a}
.flame .p1 rect{fill:#5c3430}
.flame .p2 rect{fill:#85362b}
.flame .p3 rect{fill:#b03424}
.flame .m1 rect{fill:#2f3d57}
.flame .m2 rect{fill:#2b4c86}
.flame .m3 rect{fill:#2459b5}
}
`
