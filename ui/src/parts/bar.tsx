// A bar from the middle: losses to the left, gains to the right.
import type { JSX } from "preact";

export const Bar = ({ share }: { share: number }): JSX.Element => (
  <svg class="bar-cell" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect width={100} height={8} class="ground" />
    <rect x={share < 0 ? 50 + share * 50 : 50} width={Math.abs(share) * 50} height={8} class={share < 0 ? "minus" : "plus"} />
  </svg>
);
