// SPDX-License-Identifier: MIT
// Draws the plots of a report in the page's colours, and marks a chosen scan in all of them.
"use strict";

(() => {
  const root = document.documentElement;
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const scans = report.scans.time.map((time, index) => [
    report.scans.number[index],
    report.scans.status[index],
    time,
  ]);
  const readout = document.getElementById("readout");
  const plots = report.figures.map((figure) => ({
    ...figure,
    area: document.getElementById(`plot-${figure.name}`),
  }));
  const span = [report.scans.time[0], report.scans.time.at(-1)];
  const timePlots = plots.filter((plot) => plot.kind === "time");
  let marked = null;
  let following = false;

  /** Replace names of colours ("--x") and of shared columns ("@time") by what they stand for. */
  function lookUp(value, style) {
    if (typeof value === "string") {
      if (value.startsWith("--")) return style.getPropertyValue(value).trim();
      if (value === "@time") return report.scans.time;
      if (value === "@scans") return scans;
      if (value.startsWith("@scans/")) {
        const step = Number(value.slice("@scans/".length));
        return scans.filter((_, index) => index % step === 0);
      }
      return value;
    }
    if (Array.isArray(value)) {
      const onlyNumbers = value.length > 2 && typeof value[0] === "number";
      return onlyNumbers ? value : value.map((item) => lookUp(item, style));
    }
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, lookUp(item, style)]),
      );
    }
    return value;
  }

  /** What all plots have in common. */
  function commonLayout(plot) {
    const narrow = plot.area.clientWidth < 460;
    const axis = {
      automargin: true,
      gridcolor: "--grid",
      linecolor: "--line",
      zerolinecolor: "--line",
      nticks: narrow ? 5 : 8,
      ticks: "",
    };
    return {
      autosize: true,
      uirevision: "keep",
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      font: { color: "--muted", size: 12, family: getComputedStyle(document.body).fontFamily },
      hoverlabel: { bgcolor: "--card", bordercolor: "--line", font: { color: "--ink" } },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "--muted", activecolor: "--ink" },
      margin: { l: 48, r: 14, t: 22, b: 40 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: plot.kind === "time" ? { ...axis, range: span } : axis,
      yaxis: { ...axis, nticks: 5 },
      yaxis2: { overlaying: "y", visible: false, fixedrange: true, range: [-1, 1] },
    };
  }

  /** On a page that is narrow, make the map as high as it needs, with its colours below it. */
  function fitMap(plot) {
    if (plot.kind !== "map" || plot.area.clientWidth >= 460) return;
    const { xaxis, yaxis } = plot.layout;
    const flatness = (yaxis.range[1] - yaxis.range[0]) / (xaxis.range[1] - xaxis.range[0]);
    const needed = (plot.area.clientWidth - 70) * flatness * yaxis.scaleratio + 200;
    plot.area.style.height = `${Math.round(Math.min(needed, 560))}px`;
    const below = { x: 0.5, xanchor: "center", yref: "container", y: 0.02, yanchor: "bottom" };
    for (const bar of plot.data.map(({ marker }) => marker?.colorbar).filter(Boolean)) {
      Object.assign(bar, { orientation: "h", nticks: 5, ...below });
      bar.title.side = "right";
      plot.layout.margin = { l: 48, r: 14, t: 22, b: 100 };
    }
  }

  /** What is drawn; plots over time have a curve that nobody sees and whose hint is the scan. */
  function dataOf(plot) {
    if (plot.kind !== "time") return plot.data;
    const scan = {
      x: "@time",
      y: scans.map(() => 0),
      yaxis: "y2",
      mode: "lines",
      line: { width: 0 },
      customdata: "@scans",
      hovertemplate: "scan %{customdata[0]}: %{customdata[1]}<extra></extra>",
      showlegend: false,
    };
    return [scan, ...plot.data];
  }

  function layoutOf(plot, style) {
    const common = commonLayout(plot);
    const own = plot.layout;
    const both = {
      ...common,
      ...own,
      xaxis: { ...common.xaxis, ...own.xaxis },
      yaxis: { ...common.yaxis, ...own.yaxis },
      shapes: [...(own.shapes ?? []), ...markShapes(plot)],
    };
    return lookUp(both, style);
  }

  /** A line at the marked time, or a ring around the marked place on the map. */
  function markShapes(plot) {
    if (marked === null || plot.kind === "plain") return [];
    const line = { color: "--marker", width: 2 };
    if (plot.kind === "time") {
      const time = report.scans.time[marked];
      const span = { xref: "x", x0: time, x1: time, yref: "paper", y0: 0, y1: 1 };
      return [{ type: "line", name: "mark", line, ...span }];
    }
    const ring = { x0: -9, x1: 9, y0: -9, y1: 9, xsizemode: "pixel", ysizemode: "pixel" };
    const place = { xanchor: report.scans.x[marked], yanchor: report.scans.y[marked] };
    return [{ type: "circle", name: "mark", line: { ...line, width: 3 }, ...ring, ...place }];
  }

  function draw(plot) {
    const style = getComputedStyle(root);
    const config = {
      displaylogo: false,
      doubleClick: "reset",
      responsive: true,
      showSendToCloud: false,
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
    };
    return Plotly.react(plot.area, lookUp(dataOf(plot), style), layoutOf(plot, style), config);
  }

  function drawAll() {
    return Promise.all(plots.map(draw));
  }

  /** Mark a scan in all plots; null takes the mark away. */
  function mark(index) {
    marked = index;
    const style = getComputedStyle(root);
    for (const plot of plots) {
      if (plot.kind !== "plain") {
        Plotly.relayout(plot.area, { shapes: layoutOf(plot, style).shapes });
      }
    }
    tell();
  }

  /** Say below the page which scan is marked. */
  function tell() {
    readout.hidden = marked === null;
    readout.replaceChildren();
    if (marked === null) return;
    const [number, status, time] = scans[marked];
    const words = document.createElement("span");
    const message = report.messages[status] ?? "";
    words.textContent = `scan ${number} · ${time.toFixed(2)} s · ${status}`;
    if (message && message !== status) words.textContent += ` (${message})`;
    readout.append(
      words,
      button("‹", "scan before", () => step(-1)),
      button("›", "next scan", () => step(1)),
      button("×", "remove the mark", () => mark(null)),
    );
  }

  function button(sign, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = sign;
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  function step(by) {
    if (marked !== null) mark(Math.min(Math.max(marked + by, 0), scans.length - 1));
  }

  function nearestScan(time) {
    const times = report.scans.time;
    let best = 0;
    for (let index = 1; index < times.length; index += 1) {
      if (Math.abs(times[index] - time) < Math.abs(times[best] - time)) best = index;
    }
    return best;
  }

  /** Let all plots over time show the span that one of them was zoomed to. */
  function follow(source, change) {
    if (following) return;
    const update = {};
    if (change["xaxis.autorange"]) update["xaxis.autorange"] = true;
    else if ("xaxis.range[0]" in change) {
      update["xaxis.range"] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    } else return;
    following = true;
    const others = timePlots.filter((plot) => plot !== source);
    Promise.all(others.map((plot) => Plotly.relayout(plot.area, update))).finally(() => {
      following = false;
    });
  }

  function listen(plot) {
    if (plot.kind === "plain") return;
    plot.area.on("plotly_click", (event) => {
      const point = event.points.find((one) => one.customdata);
      if (point) mark(nearestScan(point.customdata[2]));
    });
    if (plot.kind === "time") plot.area.on("plotly_relayout", (change) => follow(plot, change));
  }

  /** Black on white and as wide as a sheet while printing. */
  function onPaper(yes) {
    root.toggleAttribute("data-paper", yes);
    if (yes) for (const details of document.querySelectorAll("details")) details.open = true;
    for (const plot of plots) {
      const width = yes ? plot.area.clientWidth : undefined;
      draw(plot);
      Plotly.relayout(plot.area, { width, autosize: !yes });
    }
  }

  plots.forEach(fitMap);
  drawAll().then(() => {
    plots.forEach(listen);
    root.dataset.ready = "yes";
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));
  addEventListener("keydown", (event) => {
    if (marked === null || event.target.closest("pre, details")) return;
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "Escape") mark(null);
  });
})();
