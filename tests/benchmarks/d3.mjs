// d3-force on a graph: node d3.mjs <edges, int32 pairs> <positions, float32 pairs> <nodes> <ticks>
// Begins from the positions where the file is there, and writes them. Prints how long each tick took, in
// milliseconds, as JSON. Everything is d3's default.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";

const [edgeFile, positionFile, nodeCount, tickCount] = process.argv.slice(2);
const numbers = (file, Numbers) => {
  const bytes = readFileSync(file);
  return new Numbers(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};
const ends = numbers(edgeFile, Int32Array);
const nodes = Array.from({ length: Number(nodeCount) }, (_, index) => ({ index }));
if (existsSync(positionFile)) {
  const given = numbers(positionFile, Float32Array);
  nodes.forEach((node, index) => {
    node.x = given[2 * index];
    node.y = given[2 * index + 1];
  });
}
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
