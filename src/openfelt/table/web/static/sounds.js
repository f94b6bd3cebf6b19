// Short sounds, made by the browser; off unless the settings say otherwise.

import { settings } from "./settings.js";

const TONES = { card: [660, 0.05], chips: [420, 0.07], turn: [880, 0.12] }; // hertz, seconds
let context = null;

/** Plays a sound: card, chips or turn. */
export function play(kind) {
  if (!settings().sound) return;
  context ??= new AudioContext();
  const [frequency, length] = TONES[kind];
  const tone = new OscillatorNode(context, { frequency, type: "triangle" });
  const volume = new GainNode(context, { gain: 0.08 });
  volume.gain.exponentialRampToValueAtTime(0.0001, context.currentTime + length);
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + length);
}
