// The kinds of edits and phases on a line of F1: each has a shape, and a colour in phases.css.

const SHAPES = {
  start: "M0-6A6 6 0 1 1 0 6A6 6 0 1 1 0-6Z",
  anneal: "M-5.5-5.5H5.5V5.5H-5.5Z",
  knockout: "M-7-5H7L0 7Z",
  repair: "M0-7.5 7.5 0 0 7.5-7.5 0Z",
  reify: "M-7 5H7L0-7Z",
  portable: "M-3.5-6H3.5L7 0 3.5 6H-3.5L-7 0Z",
};
