// d3-force on a graph: node d3.mjs <edges, int32 pairs> <positions to write, float32> <nodes> <ticks>
// Prints how long each tick took, in milliseconds, as JSON. Everything is d3's default.
import { readFileSync, writeFileSync } from "node:fs";
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";

const [edgeFile, positionFile, nodeCount, tickCount] = process.argv.slice(2);
const bytes = readFileSync(edgeFile);
const ends = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const nodes = Array.from({ length: Number(nodeCount) }, (_, index) => ({ index }));
const links = [];
for (let i = 0; i < ends.length; i += 2) links.push({ source: ends[i], target: ends[i + 1] });

const simulation = forceSimulation(nodes)
  .force("charge", forceManyBody())
  .force("link", forceLink(links))
  .force("x", forceX())
  .force("y", forceY())
  .stop();
const times = [];
for (let tick = 0; tick < Number(tickCount); tick++) {
  const start = performance.now();
  simulation.tick();
  times.push(performance.now() - start);
}
const positions = new Float32Array(2 * nodes.length);
nodes.forEach((node, index) => {
  positions[2 * index] = node.x;
  positions[2 * index + 1] = node.y;
});
writeFileSync(positionFile, Buffer.from(positions.buffer));
console.log(JSON.stringify(times));
