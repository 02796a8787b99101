const story = { components: {}, merges: {} };
// A byte-level BPE tokeniser in a page: it cuts words as in running text. The story has it, too.

/** How GPT-2 and the demo tokenisers divide text before anything is merged. */
const PIECES =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const LONGEST = 300; // bytes of a piece, beyond which cutting takes long
const PREFIX = 65536; // numbers from here on are parts of a merge that are not yet all of them

/** A letter, or its number in hexadecimal if nothing would be seen of it. */
function printable(letter) {
  if (letter === " " || !/[\p{C}\p{Z}]/u.test(letter)) return letter;
  return `⟨${letter.codePointAt(0).toString(16).toUpperCase().padStart(2, "0")}⟩`;
}

class Cutter {
  /**
   * `bytes`: the types of the 256 bytes; of each merge, the first merge first, `results` has the
   * type that it makes and `parts` those that it joins, two unless `widths` (a Map) says more.
   * `added`: texts that are tokens whatever stands around them; words with one are not cut here.
   */
  constructor({ bytes, results, parts, widths = new Map(), space = true, added = [] }) {
    Object.assign(this, { bytes, results, added });
    this.before = space ? " " : "";
    this.next = new Map(); // what is joined so far and the next part, to a number of a step
    this.ranks = []; // of each step: the merge that it completes, if any
    this.goesOn = []; // whether another step may follow
    let at = 0;
    for (let rank = 0; rank < results.length; rank += 1) {
      const end = at + (widths.get(rank) ?? 2);
      let state = parts[at];
      for (at += 1; at < end; at += 1) {
        const key = state * PREFIX + parts[at];
        let step = this.next.get(key);
        if (step === undefined) {
          step = this.ranks.push(Infinity) - 1;
          this.goesOn.push(false);
          this.next.set(key, step);
        }
        if (at < end - 1) this.goesOn[step] = true;
        else this.ranks[step] = Math.min(this.ranks[step], rank);
        state = PREFIX + step;
      }
    }
  }

  /** The tokens of a word, each its type and its number of bytes; null if it is for the library. */
  cut(word) {
    const text = this.before + word;
    if (!word || /\p{Cn}|\p{Cs}/u.test(word) || this.added.some((one) => text.includes(one))) return null;
    const tokens = [];
    for (const piece of text.match(PIECES) ?? []) {
      const bytes = Cutter.encoder.encode(piece);
      if (bytes.length > LONGEST) return null;
      tokens.push(...this.merge(Array.from(bytes, (byte) => [this.bytes[byte], 1])));
    }
    return tokens;
  }

  /** Apply the merge of the lowest rank at its leftmost place, until none applies. */
  merge(tokens) {
    for (;;) {
      let [best, at, width] = [Infinity, 0, 0];
      for (let i = 0; i + 1 < tokens.length; i += 1) {
        let state = tokens[i][0];
        for (let j = i + 1; j < tokens.length; j += 1) {
          const step = this.next.get(state * PREFIX + tokens[j][0]);
          if (step === undefined) break;
          if (this.ranks[step] < best) [best, at, width] = [this.ranks[step], i, j - i + 1];
          if (!this.goesOn[step]) break;
          state = PREFIX + step;
        }
      }
      if (best === Infinity) return tokens;
      const joined = tokens.slice(at, at + width).reduce((sum, [, length]) => sum + length, 0);
      tokens.splice(at, width, [this.results[best], joined]);
    }
  }

  /**
   * The tokens of a word: its letters, or bytes in hexadecimal of those that it shares, and of the
   * letters only those that begin in it.
   */
  shown(word) {
    const tokens = this.cut(word);
    if (!tokens) return null;
    const letters = [...(this.before + word)];
    let [letter, inside, bytes] = [-1, 0, []]; // of that letter, the bytes behind us, and all
    return tokens.map(([type, length]) => {
      let [text, begun] = ["", ""];
      for (let left = length; left > 0; ) {
        if (inside === bytes.length) {
          [letter, inside] = [letter + 1, 0];
          bytes = Cutter.encoder.encode(letters[letter]);
          begun += letters[letter];
        }
        const taken = Math.min(left, bytes.length - inside);
        if (taken === bytes.length) text += printable(letters[letter]);
        else for (const byte of bytes.slice(inside, inside + taken)) text += `⟨${byte.toString(16).toUpperCase()}⟩`;
        inside += taken;
        left -= taken;
      }
      return { text: text.replace(/^ /, "␣"), letters: begun.replace(/^ /, ""), type };
    });
  }

  /** What `morphgraph.draw.cutting` has packed, and the state that it is of. */
  static unpack(data) {
    const packed = data.slice(); // begins at an even address
    const length = new DataView(packed.buffer).getUint32(0, true);
    const { state, merges, wide, ...rest } = JSON.parse(new TextDecoder().decode(packed.subarray(4, 4 + length)));
    const numbers = new Uint16Array(packed.buffer, 4 + length);
    const results = numbers.subarray(256, 256 + merges);
    const widths = new Map(wide[0].map((rank, number) => [rank, wide[1][number]]));
    const parts = numbers.subarray(256 + merges);
    return [state, new Cutter({ ...rest, bytes: numbers.subarray(0, 256), results, parts, widths })];
  }

  static encoder = new TextEncoder();
}

story.components.fan = {"html":"<div class=\"fan\">\n  <svg class=\"surface\" role=\"group\" aria-label=\"Merge graph\"><g class=\"world\"><g class=\"edges\"></g><g class=\"vertices\"></g></g></svg>\n  <div class=\"notice\" hidden>There is nothing to draw.</div>\n  <div class=\"thumb\" hidden></div>\n  <div class=\"tools icons\" role=\"toolbar\" aria-label=\"The picture\"></div>\n</div>\n\n","css":".copied { position: absolute; z-index: 3; top: calc(100% + 4px); right: 0; font: 13px var(--st-font, sans-serif); white-space: nowrap; }\n.copied:not(:empty) { padding: 3px 9px; border-radius: 7px; background: var(--st-text-color, #262730); color: var(--st-background-color, #fff); }\n\n.copying { position: relative; }\n.tools { position: relative; display: flex; gap: 2px; }\n.tools [hidden] { display: none; }\n.tools summary { list-style: none; }\n.tools summary::-webkit-details-marker { display: none; }\n.tools details > div { position: absolute; z-index: 3; right: 0; display: grid; padding: 4px; border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 18%, transparent); border-radius: 8px; background: var(--st-background-color, #fff); box-shadow: 0 4px 16px rgb(0 0 0 / 18%); }\n.tools details button { display: block; width: auto; padding: 0 10px; font: 13px var(--st-font, sans-serif); text-align: left; white-space: nowrap; opacity: 1; }\n:is(.tree, .fan):fullscreen { height: 100% !important; border: 0; border-radius: 0; }\n\n.icons :is(button, summary) {\n  display: grid;\n  place-items: center;\n  width: 28px;\n  height: 28px;\n  padding: 0;\n  border: 0;\n  border-radius: 7px;\n  background: none;\n  color: inherit;\n  opacity: 0.75;\n  cursor: pointer;\n}\n\n.icons :is(button, summary):hover { opacity: 1; background: var(--st-secondary-background-color, #f0f2f6); }\n.icons :is(button, summary):focus-visible { opacity: 1; outline: 2px solid var(--st-primary-color, #6d45e0); }\n.icons svg { width: 16px; height: 16px; fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; overflow: visible; }\n\n:host { display: block; }\n\n.fan {\n  position: relative;\n  overflow: hidden;\n  box-sizing: border-box;\n  border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 15%, transparent);\n  border-radius: var(--st-base-radius, 0.5rem);\n  background: var(--st-background-color, #fff);\n  color: var(--st-text-color, #262730);\n  font: 14px var(--st-code-font, \"Source Code Pro\", monospace);\n\n  --plain: #eceff3;\n  --plain-ink: #262730;\n  --line: #aab2bf;\n  --changed: #1668c7;\n  --selected: #6d3fe0;\n  --faded: #6b6f7a;\n  --lane0: #737a8c;\n  --lane1: #b9770e;\n  --lane2: #1f8a70;\n  --lane3: #a3478f;\n  --lane4: #2f6fb7;\n}\n\n.fan.dark {\n  --plain: #2b303b;\n  --plain-ink: #fafafa;\n  --line: #596273;\n  --changed: #5ab4ff;\n  --selected: #b79bff;\n  --faded: #a4a9b5;\n  --lane0: #a8b0c2;\n  --lane1: #f0b24a;\n  --lane2: #5fd0b0;\n  --lane3: #e08ccf;\n  --lane4: #7db4f0;\n}\n\n.surface { display: block; width: 100%; height: 100%; cursor: grab; touch-action: none; }\n.surface:active { cursor: grabbing; }\n\n.vertex { cursor: pointer; outline: none; transition: transform var(--time), opacity var(--time); }\n.vertex text { fill: var(--ink, var(--plain-ink)); text-anchor: middle; dominant-baseline: central; user-select: none; }\n.vertex .box { fill: var(--fill, var(--plain)); stroke: color-mix(in srgb, var(--plain-ink) 22%, transparent); transition: width var(--time), x var(--time), fill var(--time); }\n.vertex .ring { fill: none; stroke: none; stroke-width: 3; transition: width var(--time), x var(--time); }\n.vertex.focus text { font-weight: 600; }\n.vertex.changed .box { stroke: var(--changed); stroke-width: 2.5; }\n.vertex.more .box { fill: none; stroke-dasharray: 5 4; stroke: var(--line); }\n.vertex.ghost .box { fill: none; stroke: none; }\n.vertex.merge.ghost .box { stroke: var(--line); stroke-dasharray: 4 3; }\n.vertex.ghost text { fill: var(--faded); text-decoration: line-through; }\n.vertex.strand .box { stroke: var(--strand); stroke-width: 2.5; }\n.vertex.selected .ring { stroke: var(--selected); }\n.vertex.pointed .ring { stroke: color-mix(in srgb, var(--selected) 55%, transparent); }\n.vertex:focus-visible .ring { stroke: var(--selected); stroke-dasharray: 5 3; }\n.vertex.marked .ring { stroke: var(--changed); }\n\n.edge { fill: none; stroke: var(--line); stroke-width: 1.5; transition: d var(--time), opacity var(--time); }\n.edge.focus { stroke: color-mix(in srgb, var(--selected) 75%, transparent); }\n.edge.strand { stroke: var(--strand); stroke-width: 1.7; }\n.edge.ghost { stroke-dasharray: 4 4; }\n.edge.near { stroke-width: 3; }\n\n.coming { animation: coming var(--time); }\n.leaving { opacity: 0; pointer-events: none; }\n.lit .vertex:not(.on), .lit .edge:not(.on) { opacity: 0.22; }\n.moving .world { transition: transform var(--time); }\n\n@keyframes coming { from { opacity: 0; } }\n\n.fan { --time: 300ms; }\n\n@media (prefers-reduced-motion: reduce) {\n  .fan { --time: 0.01ms; }\n}\n\n.notice { position: absolute; inset: 0; display: grid; place-items: center; color: var(--faded); }\n.notice[hidden] { display: none; }\n\n.thumb { position: absolute; right: 2px; width: 4px; border-radius: 2px; background: var(--line); pointer-events: none; }\n\n.fan .tools { position: absolute; right: 8px; bottom: 8px; border-radius: 7px; background: var(--st-background-color, #fff); }\n.fan .tools :is(details > div, .copied) { top: auto; bottom: calc(100% + 4px); }\n\n"};
story.components.fan.show = (() => {
/**
* Panzoom 4.6.2 for panning and zooming elements using CSS transforms
* Copyright Timmy Willison and other contributors
* https://github.com/timmywil/panzoom/blob/main/MIT-License.txt
*/
((e,t)=>{"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():"function"==typeof define&&define.amd?define(t):(e="undefined"!=typeof globalThis?globalThis:e||self).Panzoom=t()})(this,function(){"undefined"!=typeof window&&(window.NodeList&&!NodeList.prototype.forEach&&(NodeList.prototype.forEach=Array.prototype.forEach),"function"!=typeof window.CustomEvent)&&(window.CustomEvent=function(e,t){t=t||{bubbles:!1,cancelable:!1,detail:null};var n=document.createEvent("CustomEvent");return n.initCustomEvent(e,t.bubbles,t.cancelable,t.detail),n});let i="undefined"!=typeof document&&!!document.documentMode,a;let l=["webkit","moz","ms"],s={};function z(e){if(s[e])return s[e];var t=a=a||document.createElement("div").style;if(e in t)return s[e]=e;var n=e[0].toUpperCase()+e.slice(1);let o=l.length;for(;o--;){var r=""+l[o]+n;if(r in t)return s[e]=r}}function r(e,t){return parseFloat(t[z(e)])||0}function c(e,t,n=window.getComputedStyle(e)){var o="border"===t?"Width":"";return{left:r(t+"Left"+o,n),right:r(t+"Right"+o,n),top:r(t+"Top"+o,n),bottom:r(t+"Bottom"+o,n)}}function X(e,t,n){e.style[z(t)]=n}function Y(e){let t=e.parentNode;t&&1===t.nodeType||(t=document.documentElement);var n=window.getComputedStyle(e),o=window.getComputedStyle(t),r=e.getBoundingClientRect(),a=t.getBoundingClientRect();return{elem:{style:n,width:r.width,height:r.height,top:r.top,bottom:r.bottom,left:r.left,right:r.right,margin:c(e,"margin",n),border:c(e,"border",n)},parent:{style:o,width:a.width,height:a.height,top:a.top,bottom:a.bottom,left:a.left,right:a.right,padding:c(t,"padding",o),border:c(t,"border",o)}}}let C={down:"mousedown",move:"mousemove",up:"mouseup mouseleave"};function N(e,t,n,o){C[e].split(" ").forEach(e=>{t.addEventListener(e,n,o)})}function T(e,t,n){C[e].split(" ").forEach(e=>{t.removeEventListener(e,n)})}function $(e,t){let n=e.length;for(;n--;)if(e[n].pointerId===t.pointerId)return n;return-1}function L(e,t){let n;if(t.touches){n=0;for(var o of t.touches)o.pointerId=n++,L(e,o)}else-1<(n=$(e,t))&&e.splice(n,1),e.push(t)}function V(e){let t=(e=e.slice(0)).pop();for(var n;n=e.pop();)t={clientX:(n.clientX-t.clientX)/2+t.clientX,clientY:(n.clientY-t.clientY)/2+t.clientY};return t}function G(e){var t;return e.length<2?0:(t=e[0],e=e[1],Math.sqrt(Math.pow(Math.abs(e.clientX-t.clientX),2)+Math.pow(Math.abs(e.clientY-t.clientY),2)))}"undefined"!=typeof window&&("function"==typeof window.PointerEvent?C={down:"pointerdown",move:"pointermove",up:"pointerup pointerleave pointercancel"}:"function"==typeof window.TouchEvent&&(C={down:"touchstart",move:"touchmove",up:"touchend touchcancel"}));let I=/^http:[\w\.\/]+svg$/;
/**
   * Panzoom for panning and zooming elements using CSS transforms
   * https://github.com/timmywil/panzoom
   *
   * Copyright Timmy Willison and other contributors
   * Released under the MIT license
   * https://github.com/timmywil/panzoom/blob/main/MIT-License.txt
   *
   */
let R={animate:!1,canvas:!1,cursor:"move",disablePan:!1,disableZoom:!1,disableXAxis:!1,disableYAxis:!1,duration:200,easing:"ease-in-out",exclude:[],excludeClass:"panzoom-exclude",handleStartEvent:e=>{e.preventDefault(),e.stopPropagation()},maxScale:4,minScale:.125,overflow:"hidden",panOnlyWhenZoomed:!1,pinchAndPan:!1,relative:!1,setTransform:function(e,{x:t,y:n,scale:o,isSVG:r},a){X(e,"transform",`scale(${o}) translate(${t}px, ${n}px)`),r&&i&&(o=window.getComputedStyle(e).getPropertyValue("transform"),e.setAttribute("transform",o))},startX:0,startY:0,startScale:1,step:.3,touchAction:"none"};function e(d,p){if(!d)throw new Error("Panzoom requires an element as an argument");if(1!==d.nodeType)throw new Error("Panzoom requires an element with a nodeType of 1");if(!(e=>{let t=e;for(;t&&t.parentNode;){if(t.parentNode===document)return 1;t=t.parentNode instanceof ShadowRoot?t.parentNode.host:t.parentNode}})(d))throw new Error("Panzoom should be called on elements that have been attached to the DOM");p=Object.assign(Object.assign({},R),p);e=d;let c=I.test(e.namespaceURI)&&"svg"!==e.nodeName.toLowerCase();var e;let n=d.parentNode;n.style.overflow=p.overflow,n.style.userSelect="none",n.style.touchAction=p.touchAction,(p.canvas?n:d).style.cursor=p.cursor,d.style.userSelect="none",d.style.touchAction=p.touchAction,X(d,"transformOrigin","string"==typeof p.origin?p.origin:c?"0 0":"50% 50%");let u=0,m=0,f=1,a=!1;function r(e,t,n){n.silent||(n=new CustomEvent(e,{detail:t}),d.dispatchEvent(n))}function l(t,n,e){let o={x:u,y:m,scale:f,isSVG:c,originalEvent:e};return requestAnimationFrame(()=>{var e;"boolean"==typeof n.animate&&(n.animate?(e=n,X(d,"transition",`${z("transform")} ${e.duration}ms `+e.easing)):X(d,"transition","none")),n.setTransform(d,o,n),r(t,o,n),r("panzoomchange",o,n)}),o}function s(e,t,n,o){var r,a,i,l,s=Object.assign(Object.assign({},p),o),c={x:u,y:m,opts:s};return(null!=o&&o.force||!(s.disablePan||s.panOnlyWhenZoomed&&f===s.startScale))&&(e=parseFloat(e),t=parseFloat(t),s.disableXAxis||(c.x=(s.relative?u:0)+e),s.disableYAxis||(c.y=(s.relative?m:0)+t),s.contain&&(e=((t=(e=(o=Y(d)).elem.width/f)*n)-e)/2,a=((r=(a=o.elem.height/f)*n)-a)/2,"inside"===s.contain?(i=(-o.elem.margin.left-o.parent.padding.left+e)/n,l=(o.parent.width-t-o.parent.padding.left-o.elem.margin.left-o.parent.border.left-o.parent.border.right+e)/n,c.x=Math.max(Math.min(c.x,l),i),l=(-o.elem.margin.top-o.parent.padding.top+a)/n,i=(o.parent.height-r-o.parent.padding.top-o.elem.margin.top-o.parent.border.top-o.parent.border.bottom+a)/n,c.y=Math.max(Math.min(c.y,i),l)):"outside"===s.contain&&(i=(-(t-o.parent.width)-o.parent.padding.left-o.parent.border.left-o.parent.border.right+e)/n,l=(e-o.parent.padding.left)/n,c.x=Math.max(Math.min(c.x,l),i),t=(-(r-o.parent.height)-o.parent.padding.top-o.parent.border.top-o.parent.border.bottom+a)/n,e=(a-o.parent.padding.top)/n,c.y=Math.max(Math.min(c.y,e),t))),s.roundPixels)&&(c.x=Math.round(c.x),c.y=Math.round(c.y)),c}function h(n,o){var r,a=Object.assign(Object.assign({},p),o),i={scale:f,opts:a};if(null!=o&&o.force||!a.disableZoom){let e=p.minScale,t=p.maxScale;a.contain&&(a=(o=Y(d)).elem.width/f,r=o.elem.height/f,1<a)&&1<r&&(a=(o.parent.width-o.parent.border.left-o.parent.border.right)/a,o=(o.parent.height-o.parent.border.top-o.parent.border.bottom)/r,"inside"===p.contain?t=Math.min(t,a,o):"outside"===p.contain&&(e=Math.max(e,a,o))),i.scale=Math.min(Math.max(n,e),t)}return i}function i(e,t,n,o){e=s(e,t,f,n);return u!==e.x||m!==e.y?(u=e.x,m=e.y,l("panzoompan",e.opts,o)):{x:u,y:m,scale:f,isSVG:c,originalEvent:o}}function g(n,o,r){var a=h(n,o),i=a.opts;if(null!=o&&o.force||!i.disableZoom){n=a.scale;let e=u,t=m;i.focal&&(o=i.focal,e=(o.x/n-o.x/f+u*n)/n,t=(o.y/n-o.y/f+m*n)/n);a=s(e,t,n,{relative:!1,force:!0});return u=a.x,m=a.y,f=n,l("panzoomzoom",i,r)}}function t(e,t){t=Object.assign(Object.assign(Object.assign({},p),{animate:!0}),t);return g(f*Math.exp((e?1:-1)*t.step),t)}function v(e,t,n,o){var r=Y(d);const a=r.parent.width-r.parent.padding.left-r.parent.padding.right-r.parent.border.left-r.parent.border.right,i=r.parent.height-r.parent.padding.top-r.parent.padding.bottom-r.parent.border.top-r.parent.border.bottom;let l=t.clientX-r.parent.left-r.parent.padding.left-r.parent.border.left-r.elem.margin.left,s=t.clientY-r.parent.top-r.parent.padding.top-r.parent.border.top-r.elem.margin.top;c||(l-=r.elem.width/f/2,s-=r.elem.height/f/2);t={x:l/a*(a*e),y:s/i*(i*e)};return g(e,Object.assign(Object.assign({},n),{animate:!1,focal:t}),o)}g(p.startScale,{animate:!1,force:!0}),setTimeout(()=>{i(p.startX,p.startY,{animate:!1,force:!0})});let y,b,w,x,O,E,S=[];function o(e){((t,n)=>{for(let e=t;null!=e;e=e.parentNode)if(o=e,r=n.excludeClass,1===o.nodeType&&-1<` ${o=o,(o.getAttribute("class")||"").trim()} `.indexOf(` ${r} `)||-1<n.exclude.indexOf(e))return 1;var o,r})(e.target,p)||(L(S,e),a=!0,p.handleStartEvent(e),y=u,b=m,r("panzoomstart",{x:u,y:m,scale:f,isSVG:c,originalEvent:e},p),e=V(S),w=e.clientX,x=e.clientY,O=f,E=G(S))}function M(t){if(a&&void 0!==y&&void 0!==b&&void 0!==w&&void 0!==x){L(S,t);var n,o=V(S),r=1<S.length;let e=f;r&&(0===E&&(E=G(S)),n=G(S)-E,v(e=h(n*p.step/80+O).scale,o,{animate:!1},t)),r&&!p.pinchAndPan||i(y+(o.clientX-w)/e,b+(o.clientY-x)/e,{animate:!1},t)}}function A(e){1===S.length&&r("panzoomend",{x:u,y:m,scale:f,isSVG:c,originalEvent:e},p);var t=S;if(e.touches)for(;t.length;)t.pop();else{e=$(t,e);-1<e&&t.splice(e,1)}a&&(a=!1,y=b=w=x=void 0)}let P=!1;function j(){P||(P=!0,N("down",p.canvas?n:d,o),N("move",document,M,{passive:!0}),N("up",document,A,{passive:!0}))}return p.noBind||j(),{bind:j,destroy:function(){P=!1,T("down",p.canvas?n:d,o),T("move",document,M),T("up",document,A)},eventNames:C,getPan:()=>({x:u,y:m}),getScale:()=>f,getOptions:()=>{var e,t=p,n={};for(e in t)t.hasOwnProperty(e)&&(n[e]=t[e]);return n},handleDown:o,handleMove:M,handleUp:A,pan:i,reset:function(e){var e=Object.assign(Object.assign(Object.assign({},p),{animate:!0,force:!0}),e),t=(f=h(e.startScale,e).scale,s(e.startX,e.startY,f,e));return u=t.x,m=t.y,l("panzoomreset",e)},resetStyle:function(){n.style.overflow="",n.style.userSelect="",n.style.touchAction="",n.style.cursor="",d.style.cursor="",d.style.userSelect="",d.style.touchAction="",X(d,"transformOrigin","")},setOptions:function(e={}){for(var t in e)e.hasOwnProperty(t)&&(p[t]=e[t]);(e.hasOwnProperty("cursor")||e.hasOwnProperty("canvas"))&&(n.style.cursor=d.style.cursor="",(p.canvas?n:d).style.cursor=p.cursor),e.hasOwnProperty("overflow")&&(n.style.overflow=e.overflow),e.hasOwnProperty("touchAction")&&(n.style.touchAction=e.touchAction,d.style.touchAction=e.touchAction)},setStyle:(e,t)=>X(d,e,t),zoom:g,zoomIn:function(e){return t(!0,e)},zoomOut:function(e){return t(!1,e)},zoomToPoint:v,zoomWithWheel:function(e,t){e.preventDefault();var t=Object.assign(Object.assign(Object.assign({},p),t),{animate:!1}),n=(0===e.deltaY&&e.deltaX?e.deltaX:e.deltaY)<0?1:-1;return v(h(f*Math.exp(n*t.step/3),t).scale,e,t,e)}}}return e.defaultOptions=R,e});
// What all components share; goes before the script of each.

const RESEND = 4000; // ms after which clicks that nobody acknowledged are sent again

const painter = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext(
  "2d",
  { willReadFrequently: true },
);
const parsed = new Map();

/** Red, green and blue of a colour of CSS. */
function rgb(colour) {
  if (!parsed.has(colour)) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = "#888";
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    parsed.set(colour, [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3));
  }
  return parsed.get(colour);
}

/** Whether the page around an element of a component is dark. */
function isDark(parent) {
  const style = getComputedStyle(parent.host ?? parent);
  const [r, g, b] = rgb(style.getPropertyValue("--st-background-color").trim());
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** Numbered clicks, sent again until Python has acknowledged them. */
class Clicks {
  pending = [];
  sequence = 0;

  add(key, kind = "click") {
    this.sequence += 1;
    this.pending.push({ sequence: this.sequence, key, kind });
    this.flush();
  }

  flush() {
    clearTimeout(this.resending);
    if (!this.pending.length || !this.send) return;
    this.send("pending", [...this.pending]);
    this.resending = setTimeout(() => this.flush(), RESEND);
  }

  acknowledge({ data, setTriggerValue }) {
    const ack = data.ack ?? 0;
    this.send = setTriggerValue;
    this.sequence = Math.max(this.sequence, ack);
    this.pending = this.pending.filter(({ sequence }) => sequence > ack);
    if (!this.pending.length) clearTimeout(this.resending);
  }

  stop() {
    clearTimeout(this.resending);
    this.send = null;
  }
}

/** What is chosen here, of which Python hears when no other choice has followed for `patience`. */
class Choice {
  told = [];

  constructor(patience) {
    this.patience = patience; // ms
  }

  tell(chosen, patience = this.patience) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.told.push(chosen);
      this.send?.("chosen", chosen);
    }, patience);
  }

  /** Whether what Python says is chosen is to be shown: not while it has yet to hear of a newer. */
  hear({ data, setStateValue }) {
    this.send = setStateValue;
    const heard = this.told.lastIndexOf(data.chosen);
    if (heard >= 0) this.told.splice(0, heard + 1);
    else if (data.chosen !== this.known) this.told = []; // chosen elsewhere
    this.known = data.chosen;
    return !this.waiting && !this.told.length;
  }

  stop() {
    clearTimeout(this.waiting);
    this.send = null;
  }
}

/** Whether a pointer has moved: what moves under one that rests gets its events, too. */
function hasMoved({ movementX, movementY }) {
  return movementX !== 0 || movementY !== 0;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * What a component exports: it is called again at every change of data or theme with the same
 * parent element, so the view of that element is kept, and updates itself by difference. What it
 * returns is also called when newer data came while its script was loading: the view goes only if
 * its element has left the page.
 */
function component(View) {
  const views = new WeakMap(); // an element's view, and the calls that hold, the latest last
  return (given) => {
    const { parentElement } = given;
    if (!views.has(parentElement)) views.set(parentElement, { view: new View(parentElement), calls: [] });
    const { view, calls } = views.get(parentElement);
    calls.push(given);
    view.update(given);
    return () => {
      const wasShown = calls.at(-1) === given;
      if (calls.includes(given)) calls.splice(calls.indexOf(given), 1);
      if (!parentElement.isConnected && views.delete(parentElement)) view.dispose();
      // It came late, after newer data, which holds.
      else if (parentElement.isConnected && wasShown && calls.length) view.update(calls.at(-1));
    };
  };
}

// Making elements; text nodes only, for words and types come from uploaded files.

const SVG_NAMES = "http://www.w3.org/2000/svg";

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG_NAMES, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}


// A picture on the page as a file of its own, and as pixels in the clipboard.

const PIXELS = 2; // of a PNG for each of the picture
const LONGEST_SIDE = 16000; // px that a canvas surely can have
const AROUND_PICTURE = 10; // px
const COPIED_FOR = 2500; // ms that one can read it
const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "display", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

const leaving = (globalThis.__morphgraph_leaving ??= { at: -Infinity, boxes: new Map() }); // where types stood in a picture that another takes the place of

/** An SVG of the page as text, with its colours in its elements; `finish` changes its copy. */
function standalone(shown, finish = () => {}, box = shown.viewBox.baseVal) {
  const copy = shown.cloneNode(true);
  const all = "rect, path, text, line, polyline, circle";
  const shapes = [...shown.querySelectorAll(all)];
  for (const [i, shape] of [...copy.querySelectorAll(all)].entries()) {
    const style = getComputedStyle(shapes[i]);
    for (const name of PAINTED) shape.setAttribute(name, style.getPropertyValue(name));
    shape.setAttribute("text-decoration", style.textDecorationLine); // of which an attribute has the short name only
  }
  finish(copy);
  return asFile(copy, box, getComputedStyle(shown).fontFamily);
}

/** An SVG, whose colours are in its elements, as text. */
function asFile(svg, box, font) {
  const [width, height] = [box.width, box.height].map((side) => Math.ceil(side + 2 * AROUND_PICTURE));
  const given = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: [box.x - AROUND_PICTURE, box.y - AROUND_PICTURE, width, height].join(" "),
    width,
    height,
    "font-family": font,
  };
  for (const [name, value] of Object.entries(given)) svg.setAttribute(name, value);
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of ["style", "class", "tabindex", "role"]) element.removeAttribute(name);
  }
  return new XMLSerializer().serializeToString(svg);
}

function svgBlob(source) {
  return new Blob([source], { type: "image/svg+xml;charset=utf-8" });
}

/** A picture on paper of the colour of the page around an element, for its letters may be light. */
function onPaper(source, element) {
  const [x, y, width, height] = (/viewBox="([^"]*)"/.exec(source)?.[1] ?? "0 0 100% 100%").split(" ");
  const paper = getComputedStyle(element).getPropertyValue("--st-background-color").trim() || "#fff";
  return source.replace(/<svg[^>]*>/, `$&<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${paper}"/>`);
}

/** Save a picture as an SVG on paper. */
function saveSvg(source, element, name) {
  save(svgBlob(onPaper(source, element)), `${name}.svg`);
}

/** An SVG as a PNG on the paper around an element. */
async function png(source, element) {
  const image = new Image();
  const address = URL.createObjectURL(svgBlob(onPaper(source, element)));
  try {
    await new Promise((onload, onerror) => Object.assign(image, { onload, onerror, src: address }));
  } finally {
    URL.revokeObjectURL(address);
  }
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(PIXELS, LONGEST_SIDE / width, LONGEST_SIDE / height);
  const sides = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const canvas = Object.assign(document.createElement("canvas"), sides);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The picture is too large.");
  return blob;
}

/** Let the button that copies a picture do so, or save it where the clipboard is refused. */
function offerCopy(parent, picture, name) {
  const [button, said] = [".copy", ".copied"].map((one) => parent.querySelector(one));
  let reading;
  button.addEventListener("click", async () => {
    const made = png(picture(), button);
    let done = "Copied";
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    } catch {
      const blob = await made.catch(() => null);
      if (blob) save(blob, `${name()}.png`);
      done = blob ? "Saved as PNG" : "Too large to copy";
    }
    said.textContent = done;
    clearTimeout(reading);
    reading = setTimeout(() => said.replaceChildren(), COPIED_FOR);
  });
}

const SAVE = "M10 3v9M6 9l4 4 4-4M4 17h12";
const FULL = "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4";

/** Fill the `.tools` of a frame: a menu that takes its picture along, and does `more`, and full screen. */
function offerTools(frame, picture, name, more = {}) {
  const place = frame.querySelector(".tools");
  const icon = (element, label, path) => {
    Object.assign(element, { title: label, ariaLabel: label });
    element.append(drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, drawn("path", { d: path })));
    return element;
  };
  const [menu, items] = [made("details"), made("div")];
  const summary = icon(made("summary"), "Save or copy the picture", SAVE);
  const item = (label, act, className) => {
    const button = made("button", className, label);
    button.type = "button";
    button.addEventListener("click", act);
    items.append(button);
  };
  const done = (act) => () => {
    summary.focus(); // what goes with the menu cannot keep it
    menu.open = false;
    act();
  };
  for (const [label, act] of Object.entries(more)) item(label, act);
  item("Download as SVG", done(() => saveSvg(picture(), frame, name())));
  item("Download as PNG", done(async () => save(await png(picture(), frame), `${name()}.png`)));
  item("Copy picture", done(() => {}), "copy");
  menu.append(summary, items);
  menu.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && !menu.contains(relatedTarget) && (menu.open = false));
  menu.addEventListener("keydown", (event) => event.key === "Escape" && menu.open && done(() => {})());
  const full = icon(made("button"), "Full screen", FULL);
  full.type = "button";
  full.hidden = !document.fullscreenEnabled;
  full.addEventListener("click", () => (frame.matches(":fullscreen") ? document.exitFullscreen() : frame.requestFullscreen()));
  const said = made("span", "copied");
  said.setAttribute("aria-live", "polite");
  place.append(menu, full, said);
  offerCopy(frame, picture, name);
}

// The merge graph as a fan, in SVG: draws what Python has laid out and reports clicks. Labels are text
// nodes only, for types come from uploaded files. Pan and zoom are Panzoom's, which goes before this.

const cameras = (globalThis.__morphgraph_cameras ??= new Map()); // view key → where one last looked, if that was by hand
const LANES = 5;
const SCALE = { most: 1.35, smallest: 0.15, largest: 4 };
const MARGIN = 10; // px around all that is drawn
const BAR = 40; // px at the end of a long fan, for its last row not to lie behind the buttons
const LEAVING = 500; // ms after which what has faded is removed
const JUST = 5000; // ms ago that another picture was left for this one
const HERE = "▪"; // in a merge, the type in the middle
const NARROW = 400; // px; below, there is no room for both a merge and what it makes

/** A fan without merges: the parts run to the type in the middle, and results mark where it is in them. */
function compact(fan) {
  const all = new Map(fan.vertices.map((vertex) => [vertex.id, vertex]));
  const results = new Map(fan.edges.map(({ source, target }) => [source, all.get(target)])); // a merge has one
  const focus = fan.vertices.find(({ flags }) => flags.includes("focus"));
  const vertices = new Map(all);
  const instead = new Map(); // merge → the type in its place
  const isMaking = ({ id, kind, x }) => kind === "merge" && x < 0 && results.get(id) === focus;
  const [making, another] = fan.vertices.filter(isMaking);
  const isLeft = ({ x }) => making && !another && x <= making.x;
  const nearer = making ? focus.x - focus.width / 2 - (making.x - making.width / 2) : 0;
  const moved = (path) => path.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => `${Number(x) + nearer} ${y}`);
  for (const vertex of fan.vertices) {
    const { id, kind, x, width, label, flags } = vertex;
    const result = results.get(id);
    if (isLeft(vertex)) {
      vertices.set(id, { ...vertex, x: x + nearer });
      if (vertex === making) instead.set(id, focus.id);
    } else if (kind === "merge" && x >= 0 && result && !results.has(result.id)) {
      const parts = label.split(" + ").map((part) => [part === HERE ? focus.label : part, part === HERE]);
      const isWhole = parts.map(([text]) => text).join("") === result.label;
      const place = { x: x + (result.width - width) / 2, flags: [...result.flags, ...flags] };
      vertices.set(result.id, { ...result, ...place, ...(isWhole && { parts }) });
      instead.set(id, result.id);
    }
  }
  const edges = fan.edges.map((edge) => ({
    ...edge,
    target: instead.get(edge.target) ?? edge.target,
    path: isLeft(all.get(edge.target)) ? moved(edge.path) : edge.path,
  }));
  return {
    vertices: [...vertices.values()].filter(({ id }) => !instead.has(id)),
    edges: edges.filter(({ source }) => !instead.has(source)),
  };
}

class FanView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".fan");
    this.surface = parent.querySelector(".surface");
    this.world = parent.querySelector(".world");
    this.thumb = parent.querySelector(".thumb");
    this.clicks = new Clicks();
    this.vertices = new Map();
    this.edges = new Map();
    this.camera = Panzoom(this.world, {
      canvas: true,
      excludeClass: "vertex",
      minScale: SCALE.smallest,
      maxScale: SCALE.largest,
      step: 0.25,
      cursor: "",
      setTransform: (element, { scale, x, y }) => {
        element.style.transform = `scale(${scale}) translate(${x}px, ${y}px)`;
        this.showPlace(scale, y);
      },
      handleStartEvent: () => this.frame.classList.remove("moving"),
    });
    this.surface.addEventListener("wheel", (event) => {
      this.frame.classList.remove("moving");
      // As on any page: the wheel scrolls, and zooms with Ctrl, which pinching on a touchpad sends, too.
      if (event.ctrlKey) this.camera.zoomWithWheel(event);
      else this.scroll(event);
      this.keepCamera();
    });
    this.world.addEventListener("panzoomend", () => this.keepCamera());
    this.listen();
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.surface);
  }

  // --- data in

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    this.dark = isDark(this.parent);
    this.frame.classList.toggle("dark", this.dark);
    this.frame.style.height = data.height;
    const switched = this.viewKey !== data.view_key;
    this.viewKey = data.view_key;
    // While clicks are on their way, the page has not seen the latest of them.
    if (!this.clicks.pending.length || switched) this.selected = data.selected;
    const told = JSON.stringify([data.fan, this.dark]);
    if (told !== this.told || switched) {
      const first = !this.drawn;
      this.told = told;
      this.given = data.fan;
      this.least = data.least;
      this.drawn = true;
      this.fit();
      this.frame.classList.toggle("moving", !first && !switched);
      this.place();
      if (first) this.unfold();
    }
    this.mark();
    const types = this.fan.vertices.filter(({ kind }) => kind === "type").length;
    const merges = this.fan.vertices.filter(({ kind }) => kind === "merge").length;
    const how = "Arrow keys move, Enter clicks, Shift and Enter moves the graph there.";
    this.surface.setAttribute("aria-label", `Merge graph: ${types} types, ${merges} merges. ${how}`);
  }

  /** Draw what there is room for. */
  fit() {
    this.narrow = this.surface.clientWidth < NARROW;
    this.fan = this.narrow ? compact(this.given) : this.given;
    this.draw();
  }

  /** The first time, a type and its parts come from where a merge tree had them, what uses it out of it. */
  unfold() {
    const entries = [...this.vertices.values()];
    const middle = entries.find(({ flags }) => flags.includes("focus"));
    if (!middle || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [scale, { x, y }] = [this.camera.getScale(), this.camera.getPan()];
    this.camera.setOptions({ startX: x, startY: y }); // where Panzoom goes a moment after it is made
    const { left, top } = this.surface.getBoundingClientRect();
    const isRecent = performance.now() - leaving.at < JUST;
    const place = ({ key }) => {
      const box = isRecent && leaving.boxes.get(key);
      return box && { x: (box.x + box.width / 2 - left) / scale - x, y: (box.y + box.height / 2 - top) / scale - y };
    };
    const from = place(middle) || middle;
    const move = (at, { element }, transition) => Object.assign(element.style, { transition, transform: `translate(${at.x}px, ${at.y}px)` });
    for (const entry of entries) move((entry.x < middle.x && place(entry)) || from, entry, "none");
    for (const { element } of this.edges.values()) element.classList.add("coming");
    this.world.getBoundingClientRect(); // where they are, before they move
    for (const entry of entries) move(entry, entry, "");
  }

  resize() {
    if (!this.drawn || !this.surface.clientWidth) return;
    if (this.narrow !== this.surface.clientWidth < NARROW) {
      this.fit();
      this.mark();
    }
    this.place();
  }

  // --- drawing by difference

  draw() {
    const focused = this.vertices.get(this.surface.getRootNode().activeElement?.dataset.id);
    this.point(undefined); // nothing, until the pointer moves or the focus is back
    this.notice().hidden = this.fan.vertices.length > 0;
    this.sync(this.vertices, this.fan.vertices, ".vertices", (v) => this.newVertex(v), (e, v) => this.dress(e, v));
    this.sync(this.edges, this.fan.edges, ".edges", () => drawn("path", {}), (e, edge) => this.trace(e, edge));
    this.light(undefined); // what changed is seen, whatever was pointed at
    // What is put elsewhere in the order of the tab key has lost the focus.
    if (focused) (this.vertices.get(focused.id) ?? this.home(focused.key))?.element.focus({ preventScroll: true });
  }

  /** The vertex of a key, or that in the middle. */
  home(key) {
    const entries = [...this.vertices.values()];
    return entries.find((entry) => entry.key === key) ?? entries.find(({ flags }) => flags.includes("focus")) ?? entries[0];
  }

  notice() {
    return this.parent.querySelector(".notice");
  }

  sync(known, wanted, place, make, update) {
    const group = this.world.querySelector(place);
    const isFirst = known.size === 0;
    const gone = new Map(known);
    for (const one of wanted) {
      let entry = known.get(one.id);
      gone.delete(one.id);
      if (!entry) {
        entry = { element: make(one) };
        known.set(one.id, entry);
        entry.coming = !isFirst;
      }
      Object.assign(entry, { parts: undefined }, one);
      update(entry.element, entry);
      group.append(entry.element); // in the order given, which is that of the tab key
      entry.coming = false;
    }
    for (const [id, { element }] of gone) {
      known.delete(id);
      element.classList.add("leaving");
      element.removeAttribute("tabindex");
      delete element.dataset.id;
      setTimeout(() => element.remove(), LEAVING);
    }
  }

  newVertex({ id, key }) {
    const [box, ring] = ["box", "ring"].map((name) => drawn("rect", { class: name }));
    const element = drawn("g", { role: "button", tabindex: "-1" }, drawn("title", {}), box, ring, drawn("text", {}));
    element.dataset.id = id;
    element.dataset.key = key;
    return element;
  }

  dress(element, { kind, label, parts = [[label, false]], about, value, x, y, width, lane, flags, fills, inks, coming }) {
    const classes = ["vertex", kind, ...flags, ...(lane === null ? [] : ["strand"])];
    element.setAttribute("class", [...classes, ...(coming ? ["coming"] : [])].join(" "));
    element.style.transform = `translate(${x}px, ${y}px)`;
    const dark = Number(this.dark);
    const set = (name, text) => (text ? element.style.setProperty(name, text) : element.style.removeProperty(name));
    set("--fill", value === null ? "" : fills[dark]);
    set("--ink", value === null ? "" : inks[dark]);
    set("--strand", lane === null ? "" : `var(--lane${lane % LANES})`);
    const [title, box, ring, text] = element.children;
    title.textContent = about;
    element.setAttribute("aria-label", `${kind} ${about.split("\n").join(", ")}`);
    for (const [rect, grow] of [[box, 0], [ring, 4]]) {
      const high = 30 + 2 * grow;
      const round = kind === "type" ? high / 2 : 6 + grow / 2;
      const shape = { x: -width / 2 - grow, y: -high / 2, width: width + 2 * grow, height: high, rx: round };
      for (const [name, size] of Object.entries(shape)) {
        rect.setAttribute(name, size);
        rect.style[name] = `${size}px`;
      }
    }
    const written = JSON.stringify(parts);
    if (text.dataset.written !== written) {
      text.dataset.written = written;
      text.replaceChildren(...parts.map(([part, isShared]) => (isShared ? drawn("tspan", { "font-weight": 700 }, part) : part)));
      text.removeAttribute("textLength");
      // Letters that the font lacks come from another, which may be wider.
      if (text.getComputedTextLength() > width - 14) {
        text.setAttribute("textLength", width - 14);
        text.setAttribute("lengthAdjust", "spacingAndGlyphs");
      }
    }
  }

  trace(element, { path, lane, flags, coming }) {
    const classes = ["edge", ...flags, ...(lane === null ? [] : ["strand"]), ...(coming ? ["coming"] : [])];
    element.setAttribute("class", classes.join(" "));
    if (lane !== null) element.style.setProperty("--strand", `var(--lane${lane % LANES})`);
    element.setAttribute("d", path);
    element.style.setProperty("d", `path("${path}")`);
  }

  /** Outline what is selected; one vertex is reached by the tab key, the others by arrows. */
  mark() {
    const entries = [...this.vertices.values()];
    const at = entries.find(({ element }) => element.matches(":focus"));
    const home = at ?? this.home(this.selected);
    for (const entry of entries) {
      entry.element.classList.toggle("selected", entry.key === this.selected);
      entry.element.setAttribute("tabindex", entry === home ? "0" : "-1");
    }
  }

  // --- camera

  /** Show what was last looked at by hand, or else all of it, or as much of it as can be read. */
  place() {
    const { clientWidth: wide, clientHeight: high } = this.surface;
    if (!wide || !high || !this.vertices.size) return;
    const kept = cameras.get(this.viewKey);
    this.move(kept ?? this.whole(wide, high, this.least));
  }

  /** Scroll as far as something is drawn; beyond that the page scrolls. */
  scroll(event) {
    const [box, scale, from] = [this.bounds(), this.camera.getScale(), this.camera.getPan()];
    const line = event.deltaMode ? 16 : 1; // px
    const along = (at, delta, low, high, size) => {
      const [last, first] = [Math.min(size / scale - high, at), Math.max(-low, at)];
      return size / scale >= high - low ? at : Math.min(first, Math.max(last, at - (delta * line) / scale));
    };
    const { clientWidth: wide, clientHeight: high } = this.surface;
    const x = along(from.x, event.deltaX, box.left, box.right, wide);
    const y = along(from.y, event.deltaY, box.top, box.bottom + BAR / scale, high);
    if (x === from.x && y === from.y) return;
    event.preventDefault();
    this.camera.pan(x, y, { force: true });
  }

  /** Show at the side which part of all that is drawn is in sight, if not all is. */
  showPlace(scale, y) {
    const { top, bottom } = this.bounds();
    const [from, part] = [(-y - top) / (bottom - top), this.surface.clientHeight / scale / (bottom - top)];
    this.thumb.hidden = !(part < 0.98);
    // Where all is in sight a finger scrolls the page.
    for (const element of [this.surface, this.world]) element.style.touchAction = this.thumb.hidden ? "pan-y" : "none";
    this.thumb.style.top = `${100 * Math.max(0, Math.min(1 - part, from))}%`;
    this.thumb.style.height = `${100 * part}%`;
  }

  bounds() {
    const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const { x, y, width } of this.vertices.values()) {
      box.left = Math.min(box.left, x - width / 2 - MARGIN);
      box.right = Math.max(box.right, x + width / 2 + MARGIN);
      box.top = Math.min(box.top, y - 15 - MARGIN);
      box.bottom = Math.max(box.bottom, y + 15 + MARGIN);
    }
    return box;
  }

  /** All of it, above the buttons if one were covered by them. */
  whole(wide, high, least) {
    const camera = this.fitted(wide, high, least);
    const bar = this.frame.querySelector(".tools");
    const isCovered = [...this.vertices.values()].some(
      (vertex) =>
        camera.scale * (vertex.x + vertex.width / 2 + camera.x) > bar.offsetLeft &&
        camera.scale * (vertex.y + 15 + camera.y) > bar.offsetTop,
    );
    return isCovered ? this.fitted(wide, bar.offsetTop, least) : camera;
  }

  fitted(wide, high, least) {
    const box = this.bounds();
    const [across, down] = [wide / (box.right - box.left), high / (box.bottom - box.top)];
    // What is too long is scrolled, from its top; of what is too wide the right side is in sight.
    const fits = down < least ? Math.min(across, 1) : Math.min(across, down);
    const scale = Math.min(SCALE.most, Math.max(fits, least));
    const middle = this.fan.vertices.find(({ flags }) => flags.includes("focus")) ?? { x: 0, y: 0 };
    const above = Math.max(box.top + high / scale / 2, middle.y - high / scale / 2 + 2 * MARGIN);
    const along = (low, end, size, at) =>
      end - low <= size / scale
        ? size / scale / 2 - (low + end) / 2
        : -Math.min(Math.max(at - size / scale / 2, low), end - size / scale);
    return {
      scale,
      x: along(box.left, box.right, wide, middle.x + (0.35 * wide) / scale),
      y: along(box.top, box.bottom, high, above),
    };
  }

  move({ scale, x, y }) {
    this.camera.zoom(scale, { force: true });
    this.camera.pan(x, y, { force: true });
  }

  keepCamera() {
    cameras.set(this.viewKey, { scale: this.camera.getScale(), ...this.camera.getPan() });
  }

  act(action) {
    const { clientWidth: wide, clientHeight: high } = this.surface;
    this.frame.classList.add("moving");
    if (action === "fit") {
      cameras.delete(this.viewKey);
      this.move(this.whole(wide, high, SCALE.smallest));
      return;
    }
    const { left, top } = this.surface.getBoundingClientRect();
    const scale = this.camera.getScale() * (action === "in" ? 1.3 : 1 / 1.3);
    this.camera.zoomToPoint(scale, { clientX: left + wide / 2, clientY: top + high / 2 });
    this.keepCamera();
  }

  /** All that is drawn, with its colours, as a picture of its own. */
  picture() {
    const { left: x, right, top: y, bottom } = this.bounds();
    const place = (copy) => {
      for (const vertex of copy.querySelectorAll(".vertex")) {
        const entry = this.vertices.get(vertex.dataset.id);
        if (entry) vertex.setAttribute("transform", `translate(${entry.x} ${entry.y})`);
        else vertex.remove();
      }
    };
    return standalone(this.surface, place, { x, y, width: right - x, height: bottom - y });
  }

  // --- events out

  listen() {
    const vertexOf = (event) => this.vertices.get(event.target.closest?.(".vertex")?.dataset.id);
    this.surface.addEventListener("click", (event) => {
      const vertex = vertexOf(event);
      if (vertex) this.click(vertex, "click");
    });
    this.surface.addEventListener("dblclick", (event) => {
      const vertex = vertexOf(event);
      if (vertex) this.click(vertex, "double");
    });
    this.surface.addEventListener("keydown", (event) => this.keyPressed(event, vertexOf(event)));
    this.surface.addEventListener("pointermove", (event) => hasMoved(event) && this.point(vertexOf(event)));
    this.surface.addEventListener("focusin", (event) => this.point(vertexOf(event)));
    for (const type of ["pointerleave", "focusout"]) {
      this.surface.addEventListener(type, () => this.point(undefined));
    }
    const looking = { "Show all (0)": "fit", "Zoom in (+)": "in", "Zoom out (−)": "out" };
    const acts = Object.entries(looking).map(([label, action]) => [label, () => this.act(action)]);
    offerTools(this.frame, () => this.picture(), () => "merge-graph", Object.fromEntries(acts));
    this.onWord = ({ detail }) => this.light(detail);
    addEventListener("morphgraph-word", this.onWord);
  }

  click(vertex, kind) {
    if (vertex.kind !== "more") this.selected = vertex.key;
    this.mark();
    this.clicks.add(vertex.key, kind);
  }

  keyPressed(event, vertex) {
    if (!vertex || event.ctrlKey || event.metaKey || event.altKey) return;
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const acts = { "+": "in", "-": "out", 0: "fit" };
    if (event.key === "Enter" || event.key === " ") this.click(vertex, event.shiftKey ? "double" : "click");
    else if (ways[event.key]) this.go(vertex, ...ways[event.key]);
    else if (acts[event.key]) this.act(acts[event.key]);
    else return;
    event.preventDefault();
  }

  /** Go to the nearest vertex in a direction. */
  go(from, right, down) {
    let [best, least] = [null, Infinity];
    for (const to of this.vertices.values()) {
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const ahead = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (to === from || ahead < 1) continue;
      const cost = ahead + 2.5 * aside;
      if (cost < least) [best, least] = [to, cost];
    }
    if (!best) return;
    best.element.focus({ preventScroll: true });
    this.mark();
    this.reveal(best.element);
  }

  reveal(element) {
    const at = element.getBoundingClientRect();
    const box = this.surface.getBoundingClientRect();
    const off = (low, high, from, to) => (low < from + MARGIN ? from + MARGIN - low : Math.min(0, to - MARGIN - high));
    const dx = off(at.left, at.right, box.left, box.right);
    const dy = off(at.top, at.bottom, box.top, box.bottom);
    if (!dx && !dy) return;
    const scale = this.camera.getScale();
    this.camera.pan(dx / scale, dy / scale, { relative: true });
    this.keepCamera();
  }

  // --- words beside it

  /** Thicken the edges of a vertex, and let words mark themselves that it takes part in. */
  point(vertex) {
    if (vertex?.id === this.pointed) return;
    this.vertices.get(this.pointed)?.element.classList.remove("pointed");
    this.pointed = vertex?.id;
    vertex?.element.classList.add("pointed");
    for (const { element, source, target } of this.edges.values()) {
      element.classList.toggle("near", vertex !== undefined && [source, target].includes(vertex.id));
    }
    dispatchEvent(new CustomEvent("morphgraph-vertex", { detail: vertex?.key }));
  }

  /** Light up the types and merges of a word, and dim the others; nothing: light all. */
  light(keys) {
    const lit = new Set(keys ?? []);
    const isLit = (id) => lit.has(this.vertices.get(id)?.key);
    const any = [...this.vertices.keys()].some(isLit);
    // What runs through a removed type is seen to do so.
    const on = (id) => isLit(id) || (any && this.vertices.get(id)?.flags.includes("ghost"));
    this.world.classList.toggle("lit", any);
    for (const [id, { element }] of this.vertices) element.classList.toggle("on", on(id));
    for (const { element, source, target } of this.edges.values()) {
      element.classList.toggle("on", on(source) && on(target));
    }
  }

  dispose() {
    this.clicks.stop();
    this.resizing.disconnect();
    this.camera.destroy();
    removeEventListener("morphgraph-word", this.onWord);
  }
}

return component(FanView);

})();
story.components.tree = {"html":"<div class=\"tree\">\n  <div class=\"toolbar\">\n    <div class=\"player\" role=\"toolbar\" aria-label=\"Play the merges\"></div>\n    <input type=\"range\" step=\"1\" aria-label=\"Merges applied\" />\n    <p class=\"said\"></p>\n    <div class=\"tools icons\" role=\"toolbar\" aria-label=\"The picture\"></div>\n  </div>\n  <div class=\"sheet\" tabindex=\"0\" role=\"group\" aria-label=\"Merge tree\"></div>\n  <div class=\"tip\" role=\"tooltip\" hidden></div>\n</div>\n\n","css":".copied { position: absolute; z-index: 3; top: calc(100% + 4px); right: 0; font: 13px var(--st-font, sans-serif); white-space: nowrap; }\n.copied:not(:empty) { padding: 3px 9px; border-radius: 7px; background: var(--st-text-color, #262730); color: var(--st-background-color, #fff); }\n\n.copying { position: relative; }\n.tools { position: relative; display: flex; gap: 2px; }\n.tools [hidden] { display: none; }\n.tools summary { list-style: none; }\n.tools summary::-webkit-details-marker { display: none; }\n.tools details > div { position: absolute; z-index: 3; right: 0; display: grid; padding: 4px; border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 18%, transparent); border-radius: 8px; background: var(--st-background-color, #fff); box-shadow: 0 4px 16px rgb(0 0 0 / 18%); }\n.tools details button { display: block; width: auto; padding: 0 10px; font: 13px var(--st-font, sans-serif); text-align: left; white-space: nowrap; opacity: 1; }\n:is(.tree, .fan):fullscreen { height: 100% !important; border: 0; border-radius: 0; }\n\n.icons :is(button, summary) {\n  display: grid;\n  place-items: center;\n  width: 28px;\n  height: 28px;\n  padding: 0;\n  border: 0;\n  border-radius: 7px;\n  background: none;\n  color: inherit;\n  opacity: 0.75;\n  cursor: pointer;\n}\n\n.icons :is(button, summary):hover { opacity: 1; background: var(--st-secondary-background-color, #f0f2f6); }\n.icons :is(button, summary):focus-visible { opacity: 1; outline: 2px solid var(--st-primary-color, #6d45e0); }\n.icons svg { width: 16px; height: 16px; fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; overflow: visible; }\n\n.player { display: flex; gap: 6px; padding: 2px; }\n\n.player button {\n  display: inline-flex;\n  align-items: center;\n  justify-content: center;\n  gap: 6px;\n  height: 34px;\n  min-width: 38px;\n  padding: 0 10px;\n  border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 20%, transparent);\n  border-radius: var(--st-base-radius, 0.5rem);\n  background: none;\n  color: inherit;\n  font: inherit;\n  font-size: 14px;\n  cursor: pointer;\n}\n\n.player button.main { min-width: 84px; border-color: transparent; background: var(--st-primary-color, #6d45e0); color: #fff; }\n.player button:disabled { opacity: 0.4; cursor: default; }\n.player svg { width: 15px; height: 15px; fill: currentcolor; stroke: none; }\n:is(button, input):focus-visible { outline: 2px solid var(--st-primary-color, #6d45e0); outline-offset: 2px; }\ninput[type=\"range\"] { height: 18px; margin: 0; accent-color: var(--st-primary-color, #6d45e0); cursor: pointer; }\n.dark { color-scheme: dark; }\n\n:host { display: block; height: 100%; }\n\n.tree {\n  position: relative;\n  display: flex;\n  flex-direction: column;\n  box-sizing: border-box;\n  border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 14%, transparent);\n  border-radius: var(--st-base-radius, 0.5rem);\n  background: var(--st-background-color, #fff);\n  color: var(--st-text-color, #262730);\n  font-family: var(--st-font, sans-serif);\n  overflow: hidden;\n}\n\n.toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; padding: 6px 8px 0; }\n.toolbar input { flex: 1 1 110px; min-width: 90px; max-width: 200px; }\n.toolbar .said { flex: 2 1 12rem; min-width: 0; margin: 0; overflow: hidden; font-size: 14px; text-overflow: ellipsis; white-space: nowrap; font-variant-numeric: tabular-nums; }\n.still :is(.player, input, .said) { visibility: hidden; }\n.player button { height: 30px; }\n.player button.main { min-width: 76px; border-color: inherit; background: none; color: inherit; }\n.sheet:focus-visible { outline: 2px solid var(--st-primary-color, #6d45e0); outline-offset: -2px; }\n.sheet { flex: 1; min-height: 0; overflow: auto; border-radius: inherit; }\n.sheet > svg { display: block; margin: 0 auto; flex: none; }\n.tree:fullscreen .sheet { display: flex; }\n.tree:fullscreen .sheet > svg { margin: auto; }\n.clickable g[data-type] { cursor: pointer; }\n.sheet g:is([data-type]):hover rect { filter: brightness(0.96); }\n.sheet g:focus-visible { outline: none; }\n.sheet g:is(:focus-visible, .now, .chosen) rect { stroke: var(--st-primary-color, #6d45e0); stroke-width: 3; }\n.sheet [data-step] { transition: opacity 0.25s; }\n.sheet > svg { animation: coming 0.25s; }\n@keyframes coming { from { opacity: 0; } }\n.sheet .later { opacity: 0; pointer-events: none; }\n\n.tip {\n  border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 14%, transparent);\n  border-radius: 8px;\n  background: var(--st-background-color, #fff);\n  box-shadow: 0 4px 16px rgb(0 0 0 / 18%);\n}\n\n.tip {\n  position: absolute;\n  z-index: 2;\n  max-width: 340px;\n  padding: 7px 10px;\n  font-size: 13px;\n  line-height: 1.45;\n  white-space: pre-line;\n  overflow-wrap: anywhere;\n  pointer-events: none;\n}\n\n.tip[hidden] { display: none; }\n\n@media (prefers-reduced-motion: reduce) {\n  .sheet [data-step] { transition: none; }\n  .sheet > svg { animation: none; }\n}\n\n"};
story.components.tree.show = (() => {
// What all components share; goes before the script of each.

const RESEND = 4000; // ms after which clicks that nobody acknowledged are sent again

const painter = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext(
  "2d",
  { willReadFrequently: true },
);
const parsed = new Map();

/** Red, green and blue of a colour of CSS. */
function rgb(colour) {
  if (!parsed.has(colour)) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = "#888";
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    parsed.set(colour, [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3));
  }
  return parsed.get(colour);
}

/** Whether the page around an element of a component is dark. */
function isDark(parent) {
  const style = getComputedStyle(parent.host ?? parent);
  const [r, g, b] = rgb(style.getPropertyValue("--st-background-color").trim());
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** Numbered clicks, sent again until Python has acknowledged them. */
class Clicks {
  pending = [];
  sequence = 0;

  add(key, kind = "click") {
    this.sequence += 1;
    this.pending.push({ sequence: this.sequence, key, kind });
    this.flush();
  }

  flush() {
    clearTimeout(this.resending);
    if (!this.pending.length || !this.send) return;
    this.send("pending", [...this.pending]);
    this.resending = setTimeout(() => this.flush(), RESEND);
  }

  acknowledge({ data, setTriggerValue }) {
    const ack = data.ack ?? 0;
    this.send = setTriggerValue;
    this.sequence = Math.max(this.sequence, ack);
    this.pending = this.pending.filter(({ sequence }) => sequence > ack);
    if (!this.pending.length) clearTimeout(this.resending);
  }

  stop() {
    clearTimeout(this.resending);
    this.send = null;
  }
}

/** What is chosen here, of which Python hears when no other choice has followed for `patience`. */
class Choice {
  told = [];

  constructor(patience) {
    this.patience = patience; // ms
  }

  tell(chosen, patience = this.patience) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.told.push(chosen);
      this.send?.("chosen", chosen);
    }, patience);
  }

  /** Whether what Python says is chosen is to be shown: not while it has yet to hear of a newer. */
  hear({ data, setStateValue }) {
    this.send = setStateValue;
    const heard = this.told.lastIndexOf(data.chosen);
    if (heard >= 0) this.told.splice(0, heard + 1);
    else if (data.chosen !== this.known) this.told = []; // chosen elsewhere
    this.known = data.chosen;
    return !this.waiting && !this.told.length;
  }

  stop() {
    clearTimeout(this.waiting);
    this.send = null;
  }
}

/** Whether a pointer has moved: what moves under one that rests gets its events, too. */
function hasMoved({ movementX, movementY }) {
  return movementX !== 0 || movementY !== 0;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * What a component exports: it is called again at every change of data or theme with the same
 * parent element, so the view of that element is kept, and updates itself by difference. What it
 * returns is also called when newer data came while its script was loading: the view goes only if
 * its element has left the page.
 */
function component(View) {
  const views = new WeakMap(); // an element's view, and the calls that hold, the latest last
  return (given) => {
    const { parentElement } = given;
    if (!views.has(parentElement)) views.set(parentElement, { view: new View(parentElement), calls: [] });
    const { view, calls } = views.get(parentElement);
    calls.push(given);
    view.update(given);
    return () => {
      const wasShown = calls.at(-1) === given;
      if (calls.includes(given)) calls.splice(calls.indexOf(given), 1);
      if (!parentElement.isConnected && views.delete(parentElement)) view.dispose();
      // It came late, after newer data, which holds.
      else if (parentElement.isConnected && wasShown && calls.length) view.update(calls.at(-1));
    };
  };
}

// Making elements; text nodes only, for words and types come from uploaded files.

const SVG_NAMES = "http://www.w3.org/2000/svg";

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG_NAMES, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}


// A picture on the page as a file of its own, and as pixels in the clipboard.

const PIXELS = 2; // of a PNG for each of the picture
const LONGEST_SIDE = 16000; // px that a canvas surely can have
const AROUND_PICTURE = 10; // px
const COPIED_FOR = 2500; // ms that one can read it
const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "display", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

const leaving = (globalThis.__morphgraph_leaving ??= { at: -Infinity, boxes: new Map() }); // where types stood in a picture that another takes the place of

/** An SVG of the page as text, with its colours in its elements; `finish` changes its copy. */
function standalone(shown, finish = () => {}, box = shown.viewBox.baseVal) {
  const copy = shown.cloneNode(true);
  const all = "rect, path, text, line, polyline, circle";
  const shapes = [...shown.querySelectorAll(all)];
  for (const [i, shape] of [...copy.querySelectorAll(all)].entries()) {
    const style = getComputedStyle(shapes[i]);
    for (const name of PAINTED) shape.setAttribute(name, style.getPropertyValue(name));
    shape.setAttribute("text-decoration", style.textDecorationLine); // of which an attribute has the short name only
  }
  finish(copy);
  return asFile(copy, box, getComputedStyle(shown).fontFamily);
}

/** An SVG, whose colours are in its elements, as text. */
function asFile(svg, box, font) {
  const [width, height] = [box.width, box.height].map((side) => Math.ceil(side + 2 * AROUND_PICTURE));
  const given = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: [box.x - AROUND_PICTURE, box.y - AROUND_PICTURE, width, height].join(" "),
    width,
    height,
    "font-family": font,
  };
  for (const [name, value] of Object.entries(given)) svg.setAttribute(name, value);
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of ["style", "class", "tabindex", "role"]) element.removeAttribute(name);
  }
  return new XMLSerializer().serializeToString(svg);
}

function svgBlob(source) {
  return new Blob([source], { type: "image/svg+xml;charset=utf-8" });
}

/** A picture on paper of the colour of the page around an element, for its letters may be light. */
function onPaper(source, element) {
  const [x, y, width, height] = (/viewBox="([^"]*)"/.exec(source)?.[1] ?? "0 0 100% 100%").split(" ");
  const paper = getComputedStyle(element).getPropertyValue("--st-background-color").trim() || "#fff";
  return source.replace(/<svg[^>]*>/, `$&<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${paper}"/>`);
}

/** Save a picture as an SVG on paper. */
function saveSvg(source, element, name) {
  save(svgBlob(onPaper(source, element)), `${name}.svg`);
}

/** An SVG as a PNG on the paper around an element. */
async function png(source, element) {
  const image = new Image();
  const address = URL.createObjectURL(svgBlob(onPaper(source, element)));
  try {
    await new Promise((onload, onerror) => Object.assign(image, { onload, onerror, src: address }));
  } finally {
    URL.revokeObjectURL(address);
  }
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(PIXELS, LONGEST_SIDE / width, LONGEST_SIDE / height);
  const sides = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const canvas = Object.assign(document.createElement("canvas"), sides);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The picture is too large.");
  return blob;
}

/** Let the button that copies a picture do so, or save it where the clipboard is refused. */
function offerCopy(parent, picture, name) {
  const [button, said] = [".copy", ".copied"].map((one) => parent.querySelector(one));
  let reading;
  button.addEventListener("click", async () => {
    const made = png(picture(), button);
    let done = "Copied";
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    } catch {
      const blob = await made.catch(() => null);
      if (blob) save(blob, `${name()}.png`);
      done = blob ? "Saved as PNG" : "Too large to copy";
    }
    said.textContent = done;
    clearTimeout(reading);
    reading = setTimeout(() => said.replaceChildren(), COPIED_FOR);
  });
}

const SAVE = "M10 3v9M6 9l4 4 4-4M4 17h12";
const FULL = "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4";

/** Fill the `.tools` of a frame: a menu that takes its picture along, and does `more`, and full screen. */
function offerTools(frame, picture, name, more = {}) {
  const place = frame.querySelector(".tools");
  const icon = (element, label, path) => {
    Object.assign(element, { title: label, ariaLabel: label });
    element.append(drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, drawn("path", { d: path })));
    return element;
  };
  const [menu, items] = [made("details"), made("div")];
  const summary = icon(made("summary"), "Save or copy the picture", SAVE);
  const item = (label, act, className) => {
    const button = made("button", className, label);
    button.type = "button";
    button.addEventListener("click", act);
    items.append(button);
  };
  const done = (act) => () => {
    summary.focus(); // what goes with the menu cannot keep it
    menu.open = false;
    act();
  };
  for (const [label, act] of Object.entries(more)) item(label, act);
  item("Download as SVG", done(() => saveSvg(picture(), frame, name())));
  item("Download as PNG", done(async () => save(await png(picture(), frame), `${name()}.png`)));
  item("Copy picture", done(() => {}), "copy");
  menu.append(summary, items);
  menu.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && !menu.contains(relatedTarget) && (menu.open = false));
  menu.addEventListener("keydown", (event) => event.key === "Escape" && menu.open && done(() => {})());
  const full = icon(made("button"), "Full screen", FULL);
  full.type = "button";
  full.hidden = !document.fullscreenEnabled;
  full.addEventListener("click", () => (frame.matches(":fullscreen") ? document.exitFullscreen() : frame.requestFullscreen()));
  const said = made("span", "copied");
  said.setAttribute("aria-live", "polite");
  place.append(menu, full, said);
  offerCopy(frame, picture, name);
}

// Buttons and a slider that play, step and scrub through numbered states, in the browser alone.

const ICONS = {
  play: "M5 3.5 16 10 5 16.5z",
  pause: "M5 4h3.6v12H5zM11.4 4H15v12h-3.6z",
  back: "M13 4 6 10l7 6z",
  next: "m7 4 7 6-7 6z",
};

class Player {
  at = 0;
  last = 0;

  /** `name`: what one step is; `show` is called at each, `stopped` where one stops. */
  constructor(place, range, name, pace, show, stopped = () => {}) {
    Object.assign(this, { range, pace, show, stopped });
    const button = (icon, label, action) => {
      const made_ = made("button");
      made_.type = "button";
      if (label) made_.title = label;
      if (label) made_.setAttribute("aria-label", label);
      made_.addEventListener("click", action);
      made_.append(this.icon(icon));
      place.append(made_);
      return made_;
    };
    this.main = button("play", "", () => (this.playing ? this.pause() : this.play()));
    this.main.className = "main";
    this.back = button("back", `Previous ${name}`, () => this.go(this.at - 1));
    this.next = button("next", `Next ${name}`, () => this.go(this.at + 1));
    range.addEventListener("input", () => this.go(Number(range.value)));
  }

  icon(name) {
    const picture = drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" });
    picture.append(drawn("path", { d: ICONS[name] }));
    return picture;
  }

  /** States from `first` to `last`, the one at `at` on show. */
  set(first, last, at) {
    [this.first, this.last] = [first, last];
    [this.range.min, this.range.max] = [first, last];
    this.at = Math.max(first, Math.min(at, last));
    this.mark();
  }

  mark() {
    this.range.value = this.at;
    this.main.disabled = this.last <= this.first;
    this.back.disabled = this.at <= this.first;
    this.next.disabled = this.at >= this.last;
    this.main.replaceChildren(
      this.icon(this.playing ? "pause" : "play"),
      this.playing ? "Pause" : "Play",
    );
    this.show(this.at);
  }

  /** From the start, or on from where it was paused. */
  play() {
    if (!this.paused || this.at >= this.last) this.at = this.first;
    this.paused = false;
    this.playing = setInterval(() => {
      if (this.at >= this.last) {
        this.go(this.at);
        return;
      }
      this.at += 1;
      this.mark();
    }, this.pace);
    this.mark();
  }

  pause() {
    this.go(this.at);
    this.paused = true;
  }

  go(number) {
    this.halt();
    this.paused = false;
    this.at = Math.max(this.first, Math.min(number, this.last));
    this.mark();
    this.stopped(this.at);
  }

  halt() {
    clearInterval(this.playing);
    this.playing = null;
  }
}


// Shows a merge tree that was drawn in Python: plays it, with tooltips and downloads.
//
// The picture is replaced only if it differs, so that a scrolled sheet stays where it is.

const GOOD_SCALE = 11 / 12; // of a picture, whose smallest letters have 12 px
const PHONE = 500; // px of room, below which a picture scrolls rather than shrinks
const PACE = 800; // ms a merge
const HIGHEST = 760; // px above which a picture scrolls
const LARGEST = 2; // scale on the full screen
const LEAVING = ["pointerdown", "keydown"]; // what may lead to another picture
const AROUND = { width: 20, height: 18 }; // px that borders and a scroll bar take

function sizeOf(source) {
  const [, width, height] = /<svg[^>]*? width="(\d+)" height="(\d+)"/.exec(source) ?? [0, 0, 0];
  return { width: Number(width), height: Number(height) };
}

class TreeView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".tree");
    this.sheet = parent.querySelector(".sheet");
    this.tip = parent.querySelector(".tip");
    this.said = parent.querySelector(".said");
    this.clicks = new Clicks();
    const [place, range] = [parent.querySelector(".player"), parent.querySelector("input")];
    this.player = new Player(place, range, "merge", PACE, (at) => this.showStep(at));
    this.sheet.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      if (!event.target.closest("g[data-type]")) return;
      event.preventDefault();
      this.chosen(event.target.closest("g[data-type]"));
    });
    this.tips = new Map();
    offerTools(this.frame, () => this.source, () => this.data.file_name);
    this.frame.addEventListener("click", (event) => this.clicked(event));
    this.sheet.addEventListener("pointermove", (event) => this.moved(event));
    this.sheet.addEventListener("pointerleave", () => this.hideTip());
    this.sheet.addEventListener("scroll", () => this.hideTip());
    this.keep = () => {
      const shown = [...this.sheet.querySelectorAll("g:is([data-type], [data-atom])")];
      const boxes = shown.map((group) => [`t${group.dataset.type ?? group.dataset.atom}`, group.getBoundingClientRect()]);
      Object.assign(leaving, { at: performance.now(), boxes: new Map(boxes) });
    };
    for (const kind of LEAVING) addEventListener(kind, this.keep, { capture: true });
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(this.frame);
  }

  update(given) {
    const { data } = given;
    this.data = data;
    this.clicks.acknowledge(given);
    this.frame.classList.toggle("clickable", Boolean(data.clickable));
    this.frame.classList.toggle("dark", isDark(this.parent));
    this.pictures = isDark(this.parent) ? data.dark : data.light;
    this.fit();
    this.markChosen();
  }

  /** Show the widest picture that there is room for; a token too long for any shrinks. */
  fit() {
    const room = this.frame.clientWidth - AROUND.width;
    if (!this.pictures || room <= 0) return;
    const fits = (source) => sizeOf(source).width * GOOD_SCALE <= room;
    const source = this.pictures.find(fits) ?? this.pictures.at(-1);
    if (source !== this.source) this.show(source);
    const { width, height } = sizeOf(source);
    const bar = this.frame.querySelector(".toolbar").offsetHeight;
    const isFull = this.frame.matches(":fullscreen");
    const most = isFull ? Math.min(LARGEST, (this.frame.clientHeight - bar - AROUND.height) / height) : 1;
    const scale = Math.max(Math.min(most, room / width), room < PHONE || isFull ? GOOD_SCALE : 0);
    const picture = this.sheet.firstElementChild;
    if (picture) {
      picture.style.width = `${Math.floor(width * scale)}px`;
      picture.style.height = `${Math.floor(height * scale)}px`;
    }
    this.frame.style.height = `${Math.min(height * scale, HIGHEST) + bar + AROUND.height}px`;
  }

  show(source) {
    // Parsed as XML and checked, never as HTML: labels come from uploaded files.
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    const picture = parsed.documentElement;
    if (picture.namespaceURI !== SVG_NAMES || parsed.querySelector("parsererror")) return;
    this.source = source;
    const shown = document.importNode(picture, true);
    this.tips.clear();
    this.hideTip();
    shown.setAttribute("aria-label", shown.querySelector(":scope > desc")?.textContent ?? "");
    // The browser's own tooltips would cover ours.
    for (const title of shown.querySelectorAll("title")) {
      this.tips.set(title.parentNode, title.textContent);
      title.remove();
    }
    this.tips.delete(shown);
    // What holds buttons is no image.
    if (this.data.clickable) shown.setAttribute("role", "group");
    this.putOnPage(shown);
    for (const group of this.data.clickable ? shown.querySelectorAll("g[data-type]") : []) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
      group.setAttribute("aria-label", this.tips.get(group) ?? "");
    }
    this.sheet.replaceChildren(shown);
    this.markChosen();
    const all = [...shown.querySelectorAll("g[data-step]")].map(({ dataset }) => +dataset.step);
    const last = Math.max(0, ...all);
    // In another width or theme it stays at its step; another word, or state, is shown whole.
    const said = shown.getAttribute("aria-label");
    const stays = said === this.described && last === this.player.last;
    if (!stays) this.player.halt();
    this.described = said;
    this.frame.classList.toggle("still", !last);
    this.player.set(0, last, stays ? this.player.at : last);
  }

  /** Hide what comes after a step, and say what happens in it. */
  showStep(at) {
    const tips = new Set();
    const whole = at >= this.player.last && !this.player.playing;
    for (const element of this.sheet.querySelectorAll("[data-step]")) {
      const step = Number(element.dataset.step);
      element.classList.toggle("later", step > at);
      element.classList.toggle("now", step === at && !whole);
      if (step === at && this.tips.has(element)) tips.add(this.tips.get(element).split("\n")[0]);
    }
    const which = `${at} of ${this.player.last}`;
    this.said.textContent = at ? `Merge ${which}: ${[...tips].join("; ")}` : "The atoms";
    this.said.title = this.said.textContent;
  }

  /** On the page, the picture's paper is the page's own, whatever its colour. */
  putOnPage(shown) {
    const paper = shown.querySelector(":scope > rect");
    const colour = paper?.getAttribute("fill");
    paper?.remove();
    for (const name of ["fill", "stroke"]) {
      for (const element of shown.querySelectorAll(`[${name}="${colour}"]`)) {
        element.style[name] = "var(--st-background-color)";
      }
    }
  }

  // --- tooltips

  moved(event) {
    const group = event.target.closest?.("g");
    const text = group && this.tips.get(group);
    if (!text) {
      this.hideTip();
      return;
    }
    if (this.hovered !== group) {
      this.hovered = group;
      this.tip.textContent = text;
      this.tip.hidden = false;
    }
    const box = this.frame.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { offsetWidth, offsetHeight } = this.tip;
    const left = Math.max(4, Math.min(x + 14, box.width - offsetWidth - 6));
    const above = y + 18 + offsetHeight > box.height - 4;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(4, above ? y - offsetHeight - 12 : y + 18)}px`;
  }

  hideTip() {
    this.hovered = null;
    this.tip.hidden = true;
  }

  // --- clicks

  clicked(event) {
    const group = event.target.closest?.("g[data-type]");
    if (group) this.chosen(group);
  }

  /** A merge was clicked: choose its type. */
  chosen(group) {
    if (this.data.clickable) this.clicks.add(`t${group.dataset.type}`);
  }

  markChosen() {
    for (const group of this.sheet.querySelectorAll("g[data-type]")) {
      group.classList.toggle("chosen", Number(group.dataset.type) === this.data.chosen);
    }
  }

  dispose() {
    for (const kind of LEAVING) removeEventListener(kind, this.keep, { capture: true });
    this.resizing.disconnect();
    this.player.halt();
    this.clicks.stop();
  }
}

return component(TreeView);

})();
story.components.run = {"html":"<div class=\"run phases signs\">\n  <div class=\"controls\">\n    <div class=\"player\"></div>\n    <p class=\"said\" aria-live=\"polite\"></p>\n    <div class=\"key\"></div>\n    <div class=\"copying icons\"><button type=\"button\" class=\"copy\" title=\"Copy picture\" aria-label=\"Copy picture\"><svg viewBox=\"0 0 20 20\" aria-hidden=\"true\"><path d=\"M7 7V3h10v10h-4M3 7h10v10H3Z\"/></svg></button><span class=\"copied\" aria-live=\"polite\"></span></div>\n  </div>\n  <div class=\"line\"></div>\n  <input type=\"range\" min=\"0\" step=\"1\" aria-label=\"Phase on show\" />\n  <div class=\"word\"></div>\n</div>\n\n","css":".copied { position: absolute; z-index: 3; top: calc(100% + 4px); right: 0; font: 13px var(--st-font, sans-serif); white-space: nowrap; }\n.copied:not(:empty) { padding: 3px 9px; border-radius: 7px; background: var(--st-text-color, #262730); color: var(--st-background-color, #fff); }\n\n.copying { position: relative; }\n.tools { position: relative; display: flex; gap: 2px; }\n.tools [hidden] { display: none; }\n.tools summary { list-style: none; }\n.tools summary::-webkit-details-marker { display: none; }\n.tools details > div { position: absolute; z-index: 3; right: 0; display: grid; padding: 4px; border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 18%, transparent); border-radius: 8px; background: var(--st-background-color, #fff); box-shadow: 0 4px 16px rgb(0 0 0 / 18%); }\n.tools details button { display: block; width: auto; padding: 0 10px; font: 13px var(--st-font, sans-serif); text-align: left; white-space: nowrap; opacity: 1; }\n:is(.tree, .fan):fullscreen { height: 100% !important; border: 0; border-radius: 0; }\n\n.icons :is(button, summary) {\n  display: grid;\n  place-items: center;\n  width: 28px;\n  height: 28px;\n  padding: 0;\n  border: 0;\n  border-radius: 7px;\n  background: none;\n  color: inherit;\n  opacity: 0.75;\n  cursor: pointer;\n}\n\n.icons :is(button, summary):hover { opacity: 1; background: var(--st-secondary-background-color, #f0f2f6); }\n.icons :is(button, summary):focus-visible { opacity: 1; outline: 2px solid var(--st-primary-color, #6d45e0); }\n.icons svg { width: 16px; height: 16px; fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; overflow: visible; }\n\n.signs {\n  --right: #d9eee3;\n  --token: #ececf1;\n  --covered: #fadadd;\n  --cut: #a3122f;\n  --label: #0f6b45;\n  --new: #1565c0;\n}\n\n.signs.dark {\n  --right: #17402f;\n  --token: #2e313b;\n  --covered: #57202b;\n  --cut: #ff8f9c;\n  --label: #6fd3a6;\n  --new: #6ab0ff;\n}\n\n.label { font: 14px var(--st-code-font, monospace); opacity: 0.85; }\n.gold .label, .label.gold, .key .gold { color: var(--label); opacity: 1; }\n.chips { display: flex; flex-wrap: wrap; gap: 7px; min-height: 1px; }\n\n.chip {\n  display: inline-flex;\n  padding: 3px 12px;\n  border-radius: 7px;\n  background: var(--token);\n  font: 22px/1.5 var(--st-code-font, monospace);\n  white-space: pre;\n}\n\n.chips.gold .chip, .chip.morph { background: var(--right); }\n.chip.covering { background: var(--covered); }\n.chip.culprit { box-shadow: 0 0 0 2px var(--cut); }\n.chip.changed { box-shadow: 0 0 0 1.5px var(--new); }\n.chip.dropped { background: none; box-shadow: inset 0 0 0 1px color-mix(in srgb, currentColor 30%, transparent); text-decoration: line-through; }\n.cut { width: 3px; margin: -9px 1px; border-radius: 2px; background: var(--cut); }\n.cut.won { background: var(--label); }\n.exact { color: var(--label); font-weight: 700; }\n\n/* Tokens that share a letter touch each other. */\n.chip.half {\n  margin-inline-start: -0.25em;\n  border-inline-start: 1px dashed color-mix(in srgb, currentColor 60%, transparent);\n  border-start-start-radius: 0;\n  border-end-start-radius: 0;\n}\n\n.key { margin: 6px 2px 0; font-size: 12.5px; }\n.key > div { display: inline-flex; flex-wrap: wrap; gap: 4px 16px; margin-inline-start: 8px; }\n.key[open] { display: flex; align-items: baseline; }\n.key summary {\n  display: inline-block;\n  flex: none;\n  width: 1.5em;\n  border: 1px solid color-mix(in srgb, currentColor 35%, transparent);\n  border-radius: 50%;\n  line-height: 1.45;\n  text-align: center;\n  list-style: none;\n  cursor: pointer;\n}\n.key summary::-webkit-details-marker { display: none; }\n.key summary:focus-visible { outline: 2px solid var(--st-primary-color, #6d45e0); outline-offset: 1px; }\n.key .item { display: inline-flex; gap: 6px; align-items: baseline; }\n.key .chip { padding: 0 5px; border-radius: 4px; font-size: 12.5px; }\n.key .half { margin: 0; }\n.key .gold { font-family: var(--st-code-font, monospace); }\n.key .cut { align-self: stretch; width: 2px; margin: -1px; }\n.key .cut.won { width: 3px; }\n\n.player { display: flex; gap: 6px; padding: 2px; }\n\n.player button {\n  display: inline-flex;\n  align-items: center;\n  justify-content: center;\n  gap: 6px;\n  height: 34px;\n  min-width: 38px;\n  padding: 0 10px;\n  border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 20%, transparent);\n  border-radius: var(--st-base-radius, 0.5rem);\n  background: none;\n  color: inherit;\n  font: inherit;\n  font-size: 14px;\n  cursor: pointer;\n}\n\n.player button.main { min-width: 84px; border-color: transparent; background: var(--st-primary-color, #6d45e0); color: #fff; }\n.player button:disabled { opacity: 0.4; cursor: default; }\n.player svg { width: 15px; height: 15px; fill: currentcolor; stroke: none; }\n:is(button, input):focus-visible { outline: 2px solid var(--st-primary-color, #6d45e0); outline-offset: 2px; }\ninput[type=\"range\"] { height: 18px; margin: 0; accent-color: var(--st-primary-color, #6d45e0); cursor: pointer; }\n.dark { color-scheme: dark; }\n\n.phases {\n  --start: #626879;\n  --anneal: #1f63d1;\n  --knockout: #b3122f;\n  --repair: #8f5500;\n  --reify: #6a3fb5;\n  --portable: #0d7680;\n  --f1: #13734f;\n  --seen: #7b8190;\n\n  color: var(--st-text-color, #262730);\n  font-family: var(--st-font, sans-serif);\n  font-size: 14px;\n}\n\n.phases.dark {\n  --start: #aab0be;\n  --anneal: #7fb0ff;\n  --knockout: #ff8f9c;\n  --repair: #f0b45a;\n  --reify: #c7a8ff;\n  --portable: #67d3dd;\n  --f1: #6fd3a6;\n  --seen: #9298a6;\n}\n\n.start { color: var(--start); }\n.anneal { color: var(--anneal); }\n.knockout { color: var(--knockout); }\n.repair { color: var(--repair); }\n.reify { color: var(--reify); }\n.portable { color: var(--portable); }\n\n.line svg { display: block; width: 100%; overflow: visible; }\n.line polyline { fill: none; stroke: var(--f1); stroke-width: 3; stroke-linejoin: round; }\n.line polyline.beside { stroke: var(--seen); stroke-width: 1.5; stroke-dasharray: 5 4; }\n.line text { fill: currentcolor; font-size: 12px; text-anchor: middle; font-variant-numeric: tabular-nums; paint-order: stroke; stroke: var(--st-background-color, #fff); stroke-width: 3px; }\ntext.seen { fill: var(--seen); text-anchor: end; }\n.line g { cursor: pointer; }\n.line g path { fill: currentcolor; stroke: var(--st-background-color, #fff); stroke-width: 1.5; }\n.line g.undone path { fill: var(--st-background-color, #fff); stroke: currentcolor; }\n.line rect { fill: transparent; }\n.line g circle { fill: none; stroke: none; stroke-width: 2.5; transition: stroke 0.2s; }\n.line g.chosen circle { stroke: var(--st-primary-color, #6d45e0); }\n.line g.chosen text { font-weight: 700; }\n\n@media (prefers-reduced-motion: reduce) {\n  .line g circle { transition: none; }\n}\n\n.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 8px; padding: 2px; }\n\n.said { flex: 1 1 18rem; margin: 0 4px; line-height: 1.35; font-variant-numeric: tabular-nums; }\n.controls .key { display: flex; flex-wrap: wrap; gap: 2px 12px; margin: 0; font-size: 13px; }\n.controls .key span { display: inline-flex; align-items: center; gap: 5px; }\n.controls .key svg { width: 12px; height: 12px; fill: currentcolor; }\n\ninput[type=\"range\"] { display: block; }\n\n/* As high with one row as with ten, so that nothing below moves; what is wider scrolls in here. */\n.word { position: relative; display: flex; gap: 8px; height: 98px; margin-top: 8px; overflow: auto hidden; scrollbar-width: thin; scroll-behavior: smooth; }\n.word:empty { display: none; }\n.word .row { display: flex; flex: none; flex-direction: column; gap: 7px; box-sizing: border-box; height: 84px; padding: 8px 12px; border: 1px solid color-mix(in srgb, currentcolor 16%, transparent); border-radius: 8px; }\n.word .row.now { border-color: var(--st-primary-color, #6d45e0); background: var(--st-secondary-background-color, #f0f2f6); }\n.word .label { height: 30px; font-family: inherit; line-height: 30px; }\n.word .row.now .label { font-weight: 600; opacity: 1; }\n.word .chip { padding: 1px 9px; font-size: 16px; }\n.word .chips { flex-wrap: nowrap; gap: 5px; }\n.word .cut { width: 2px; margin: -2px 1px; }\n.word .none { opacity: 0.85; }\n\n.field input {\n  box-sizing: border-box;\n  width: min(15rem, 55vw);\n  padding: 4px 8px;\n  border: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 30%, transparent);\n  border-radius: var(--st-base-radius, 0.5rem);\n  background: var(--st-background-color, #fff);\n  color: inherit;\n  font: 15px var(--st-code-font, monospace);\n}\n\n@media (prefers-reduced-motion: reduce) {\n  .word { scroll-behavior: auto; }\n}\n\n"};
story.components.run.show = (() => {
// What all components share; goes before the script of each.

const RESEND = 4000; // ms after which clicks that nobody acknowledged are sent again

const painter = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext(
  "2d",
  { willReadFrequently: true },
);
const parsed = new Map();

/** Red, green and blue of a colour of CSS. */
function rgb(colour) {
  if (!parsed.has(colour)) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = "#888";
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    parsed.set(colour, [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3));
  }
  return parsed.get(colour);
}

/** Whether the page around an element of a component is dark. */
function isDark(parent) {
  const style = getComputedStyle(parent.host ?? parent);
  const [r, g, b] = rgb(style.getPropertyValue("--st-background-color").trim());
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** Numbered clicks, sent again until Python has acknowledged them. */
class Clicks {
  pending = [];
  sequence = 0;

  add(key, kind = "click") {
    this.sequence += 1;
    this.pending.push({ sequence: this.sequence, key, kind });
    this.flush();
  }

  flush() {
    clearTimeout(this.resending);
    if (!this.pending.length || !this.send) return;
    this.send("pending", [...this.pending]);
    this.resending = setTimeout(() => this.flush(), RESEND);
  }

  acknowledge({ data, setTriggerValue }) {
    const ack = data.ack ?? 0;
    this.send = setTriggerValue;
    this.sequence = Math.max(this.sequence, ack);
    this.pending = this.pending.filter(({ sequence }) => sequence > ack);
    if (!this.pending.length) clearTimeout(this.resending);
  }

  stop() {
    clearTimeout(this.resending);
    this.send = null;
  }
}

/** What is chosen here, of which Python hears when no other choice has followed for `patience`. */
class Choice {
  told = [];

  constructor(patience) {
    this.patience = patience; // ms
  }

  tell(chosen, patience = this.patience) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.told.push(chosen);
      this.send?.("chosen", chosen);
    }, patience);
  }

  /** Whether what Python says is chosen is to be shown: not while it has yet to hear of a newer. */
  hear({ data, setStateValue }) {
    this.send = setStateValue;
    const heard = this.told.lastIndexOf(data.chosen);
    if (heard >= 0) this.told.splice(0, heard + 1);
    else if (data.chosen !== this.known) this.told = []; // chosen elsewhere
    this.known = data.chosen;
    return !this.waiting && !this.told.length;
  }

  stop() {
    clearTimeout(this.waiting);
    this.send = null;
  }
}

/** Whether a pointer has moved: what moves under one that rests gets its events, too. */
function hasMoved({ movementX, movementY }) {
  return movementX !== 0 || movementY !== 0;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * What a component exports: it is called again at every change of data or theme with the same
 * parent element, so the view of that element is kept, and updates itself by difference. What it
 * returns is also called when newer data came while its script was loading: the view goes only if
 * its element has left the page.
 */
function component(View) {
  const views = new WeakMap(); // an element's view, and the calls that hold, the latest last
  return (given) => {
    const { parentElement } = given;
    if (!views.has(parentElement)) views.set(parentElement, { view: new View(parentElement), calls: [] });
    const { view, calls } = views.get(parentElement);
    calls.push(given);
    view.update(given);
    return () => {
      const wasShown = calls.at(-1) === given;
      if (calls.includes(given)) calls.splice(calls.indexOf(given), 1);
      if (!parentElement.isConnected && views.delete(parentElement)) view.dispose();
      // It came late, after newer data, which holds.
      else if (parentElement.isConnected && wasShown && calls.length) view.update(calls.at(-1));
    };
  };
}

// Making elements; text nodes only, for words and types come from uploaded files.

const SVG_NAMES = "http://www.w3.org/2000/svg";

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG_NAMES, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}


// A picture on the page as a file of its own, and as pixels in the clipboard.

const PIXELS = 2; // of a PNG for each of the picture
const LONGEST_SIDE = 16000; // px that a canvas surely can have
const AROUND_PICTURE = 10; // px
const COPIED_FOR = 2500; // ms that one can read it
const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "display", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

const leaving = (globalThis.__morphgraph_leaving ??= { at: -Infinity, boxes: new Map() }); // where types stood in a picture that another takes the place of

/** An SVG of the page as text, with its colours in its elements; `finish` changes its copy. */
function standalone(shown, finish = () => {}, box = shown.viewBox.baseVal) {
  const copy = shown.cloneNode(true);
  const all = "rect, path, text, line, polyline, circle";
  const shapes = [...shown.querySelectorAll(all)];
  for (const [i, shape] of [...copy.querySelectorAll(all)].entries()) {
    const style = getComputedStyle(shapes[i]);
    for (const name of PAINTED) shape.setAttribute(name, style.getPropertyValue(name));
    shape.setAttribute("text-decoration", style.textDecorationLine); // of which an attribute has the short name only
  }
  finish(copy);
  return asFile(copy, box, getComputedStyle(shown).fontFamily);
}

/** An SVG, whose colours are in its elements, as text. */
function asFile(svg, box, font) {
  const [width, height] = [box.width, box.height].map((side) => Math.ceil(side + 2 * AROUND_PICTURE));
  const given = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: [box.x - AROUND_PICTURE, box.y - AROUND_PICTURE, width, height].join(" "),
    width,
    height,
    "font-family": font,
  };
  for (const [name, value] of Object.entries(given)) svg.setAttribute(name, value);
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of ["style", "class", "tabindex", "role"]) element.removeAttribute(name);
  }
  return new XMLSerializer().serializeToString(svg);
}

function svgBlob(source) {
  return new Blob([source], { type: "image/svg+xml;charset=utf-8" });
}

/** A picture on paper of the colour of the page around an element, for its letters may be light. */
function onPaper(source, element) {
  const [x, y, width, height] = (/viewBox="([^"]*)"/.exec(source)?.[1] ?? "0 0 100% 100%").split(" ");
  const paper = getComputedStyle(element).getPropertyValue("--st-background-color").trim() || "#fff";
  return source.replace(/<svg[^>]*>/, `$&<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${paper}"/>`);
}

/** Save a picture as an SVG on paper. */
function saveSvg(source, element, name) {
  save(svgBlob(onPaper(source, element)), `${name}.svg`);
}

/** An SVG as a PNG on the paper around an element. */
async function png(source, element) {
  const image = new Image();
  const address = URL.createObjectURL(svgBlob(onPaper(source, element)));
  try {
    await new Promise((onload, onerror) => Object.assign(image, { onload, onerror, src: address }));
  } finally {
    URL.revokeObjectURL(address);
  }
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(PIXELS, LONGEST_SIDE / width, LONGEST_SIDE / height);
  const sides = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const canvas = Object.assign(document.createElement("canvas"), sides);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The picture is too large.");
  return blob;
}

/** Let the button that copies a picture do so, or save it where the clipboard is refused. */
function offerCopy(parent, picture, name) {
  const [button, said] = [".copy", ".copied"].map((one) => parent.querySelector(one));
  let reading;
  button.addEventListener("click", async () => {
    const made = png(picture(), button);
    let done = "Copied";
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    } catch {
      const blob = await made.catch(() => null);
      if (blob) save(blob, `${name()}.png`);
      done = blob ? "Saved as PNG" : "Too large to copy";
    }
    said.textContent = done;
    clearTimeout(reading);
    reading = setTimeout(() => said.replaceChildren(), COPIED_FOR);
  });
}

const SAVE = "M10 3v9M6 9l4 4 4-4M4 17h12";
const FULL = "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4";

/** Fill the `.tools` of a frame: a menu that takes its picture along, and does `more`, and full screen. */
function offerTools(frame, picture, name, more = {}) {
  const place = frame.querySelector(".tools");
  const icon = (element, label, path) => {
    Object.assign(element, { title: label, ariaLabel: label });
    element.append(drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, drawn("path", { d: path })));
    return element;
  };
  const [menu, items] = [made("details"), made("div")];
  const summary = icon(made("summary"), "Save or copy the picture", SAVE);
  const item = (label, act, className) => {
    const button = made("button", className, label);
    button.type = "button";
    button.addEventListener("click", act);
    items.append(button);
  };
  const done = (act) => () => {
    summary.focus(); // what goes with the menu cannot keep it
    menu.open = false;
    act();
  };
  for (const [label, act] of Object.entries(more)) item(label, act);
  item("Download as SVG", done(() => saveSvg(picture(), frame, name())));
  item("Download as PNG", done(async () => save(await png(picture(), frame), `${name()}.png`)));
  item("Copy picture", done(() => {}), "copy");
  menu.append(summary, items);
  menu.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && !menu.contains(relatedTarget) && (menu.open = false));
  menu.addEventListener("keydown", (event) => event.key === "Escape" && menu.open && done(() => {})());
  const full = icon(made("button"), "Full screen", FULL);
  full.type = "button";
  full.hidden = !document.fullscreenEnabled;
  full.addEventListener("click", () => (frame.matches(":fullscreen") ? document.exitFullscreen() : frame.requestFullscreen()));
  const said = made("span", "copied");
  said.setAttribute("aria-live", "polite");
  place.append(menu, full, said);
  offerCopy(frame, picture, name);
}

// Words as chips: each token with the gold boundaries that it covers, and the key of their signs.

/** What shows that a sign is there, an example of it, and what it means. */
const SIGNS = [
  [".gold .chip, .morphs", "gold", "go|ld", "where the reference cuts"],
  [".chip.morph", "chip morph", "morph", "a token as in the gold"],
  [".chip:not(.gold .chip, .morph, .covering, .dropped)", "chip", "token", "a token"],
  [".chip.covering", "chip covering", "to|ken", "a token over a gold boundary"],
  [".chip.culprit", "chip culprit", "token", "made by the merge most to blame"],
  [".chip.half", "chip half", "½", "a token that begins inside a letter"],
  [".chip.dropped", "chip dropped", "token", "left out: no model sees it"],
  [".exact", "exact", "✓", "cut just as in the gold"],
  [".cut.won", "cut won", "", "a gold boundary that was covered before"],
  [".here", "here", "type", "the type looked at"],
];

/** A token, with a line at each gold boundary that it covers. */
function chipOf({ segments, tooltip, is_culprit: culprit, is_morph: morph, is_half: half }, kind = "span") {
  const chip = made(kind, "chip");
  chip.title = tooltip;
  chip.classList.toggle("culprit", culprit);
  chip.classList.toggle("morph", morph);
  chip.classList.toggle("half", half);
  for (const segment of segments) extend(chip, segment);
  return chip;
}

/** Add to a token what follows, after a gold boundary unless it is the first. */
function extend(chip, text, kind = "") {
  if (chip.firstChild) {
    chip.append(made("span", "cut"));
    chip.classList.add("covering");
  }
  chip.append(made("span", kind, text));
}

/**
 * The tokens of a word given in pieces: text, what is before it (start, right, wrong, missed, split,
 * inside or marker; none within a token), and a kind: here, or dropped.
 */
function chipsOf(pieces, isKnown) {
  const chips = [];
  for (const [text, boundary, kind] of pieces) {
    if (chips.length && !boundary) chips.at(-1).chip.append(made("span", kind, text));
    else if (chips.length && boundary === "missed") extend(chips.at(-1).chip, text, kind);
    else {
      const chip = made("span", `chip${boundary === "inside" ? " half" : ""}${kind === "dropped" ? " dropped" : ""}`);
      extend(chip, text, kind);
      chips.push({ chip, left: boundary || "start" });
    }
  }
  const within = ["wrong", "inside", "marker"]; // what cuts a morph, or cuts no word
  chips.forEach(({ chip, left }, number) => {
    const right = chips[number + 1]?.left ?? "start";
    const is = isKnown && !within.includes(left) && !within.includes(right);
    chip.classList.toggle("morph", is && !chip.matches(".covering, .dropped"));
  });
  return chips.map(({ chip }) => chip);
}

/** The meaning of the signs that stand in an element, behind a question mark. */
class Key {
  constructor(parent, frame, isOpen = false) {
    this.frame = frame;
    this.items = SIGNS.map(([sign, kind, text, meaning]) => {
      const [item, sample] = [made("span", "item"), made("span", kind)];
      const parts = kind.includes("covering") ? text.split("|") : [text];
      for (const part of parts) extend(sample, part);
      item.append(sample, meaning);
      return { sign, item };
    });
    this.list = made("div");
    this.details = made("details", "key");
    const mark = made("summary", "", "?");
    mark.title = "What the signs mean";
    mark.setAttribute("aria-label", mark.title);
    this.details.append(mark, this.list);
    this.details.open = isOpen;
    this.details.hidden = true;
    parent.append(this.details);
  }

  update() {
    const shown = this.items.filter(({ sign }) => this.frame.querySelector(sign));
    this.list.replaceChildren(...shown.map(({ item }) => item));
    if (this.frame.textContent.includes("␣")) {
      const item = made("span", "item");
      item.append(made("span", "chip", "␣"), "start of a word");
      this.list.append(item);
    }
    this.details.hidden = !this.list.firstChild;
  }
}

// Buttons and a slider that play, step and scrub through numbered states, in the browser alone.

const ICONS = {
  play: "M5 3.5 16 10 5 16.5z",
  pause: "M5 4h3.6v12H5zM11.4 4H15v12h-3.6z",
  back: "M13 4 6 10l7 6z",
  next: "m7 4 7 6-7 6z",
};

class Player {
  at = 0;
  last = 0;

  /** `name`: what one step is; `show` is called at each, `stopped` where one stops. */
  constructor(place, range, name, pace, show, stopped = () => {}) {
    Object.assign(this, { range, pace, show, stopped });
    const button = (icon, label, action) => {
      const made_ = made("button");
      made_.type = "button";
      if (label) made_.title = label;
      if (label) made_.setAttribute("aria-label", label);
      made_.addEventListener("click", action);
      made_.append(this.icon(icon));
      place.append(made_);
      return made_;
    };
    this.main = button("play", "", () => (this.playing ? this.pause() : this.play()));
    this.main.className = "main";
    this.back = button("back", `Previous ${name}`, () => this.go(this.at - 1));
    this.next = button("next", `Next ${name}`, () => this.go(this.at + 1));
    range.addEventListener("input", () => this.go(Number(range.value)));
  }

  icon(name) {
    const picture = drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" });
    picture.append(drawn("path", { d: ICONS[name] }));
    return picture;
  }

  /** States from `first` to `last`, the one at `at` on show. */
  set(first, last, at) {
    [this.first, this.last] = [first, last];
    [this.range.min, this.range.max] = [first, last];
    this.at = Math.max(first, Math.min(at, last));
    this.mark();
  }

  mark() {
    this.range.value = this.at;
    this.main.disabled = this.last <= this.first;
    this.back.disabled = this.at <= this.first;
    this.next.disabled = this.at >= this.last;
    this.main.replaceChildren(
      this.icon(this.playing ? "pause" : "play"),
      this.playing ? "Pause" : "Play",
    );
    this.show(this.at);
  }

  /** From the start, or on from where it was paused. */
  play() {
    if (!this.paused || this.at >= this.last) this.at = this.first;
    this.paused = false;
    this.playing = setInterval(() => {
      if (this.at >= this.last) {
        this.go(this.at);
        return;
      }
      this.at += 1;
      this.mark();
    }, this.pace);
    this.mark();
  }

  pause() {
    this.go(this.at);
    this.paused = true;
  }

  go(number) {
    this.halt();
    this.paused = false;
    this.at = Math.max(this.first, Math.min(number, this.last));
    this.mark();
    this.stopped(this.at);
  }

  halt() {
    clearInterval(this.playing);
    this.playing = null;
  }
}


// The kinds of edits and phases on a line of F1: each has a shape, and a colour in phases.css.

const SHAPES = {
  start: "M0-6A6 6 0 1 1 0 6A6 6 0 1 1 0-6Z",
  anneal: "M-5.5-5.5H5.5V5.5H-5.5Z",
  knockout: "M-7-5H7L0 7Z",
  repair: "M0-7.5 7.5 0 0 7.5-7.5 0Z",
  reify: "M-7 5H7L0-7Z",
  portable: "M-3.5-6H3.5L7 0 3.5 6H-3.5L-7 0Z",
};

// A run as a line that one plays: height is F1, colour and shape are the phase. It plays here;
// Python hears of each phase, and of steps where one stops.

const [ASIDE, ABOVE, BELOW, HIGH] = [34, 30, 26, 176]; // px around the points, and of the line
const PACE = 1100; // ms a phase
const PATIENCE = 300; // ms without another step before Python hears of one
const LETTER = 7; // px that one takes in a label
const NAMES = {
  start: "start",
  anneal: "anneal",
  knockout: "knock out",
  repair: "repair",
  reify: "reify",
  portable: "make portable",
};
class RunView {
  rows = [];

  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".run");
    this.lineBox = parent.querySelector(".line");
    this.range = parent.querySelector("input[type=range]");
    this.said = parent.querySelector(".said");
    this.key = parent.querySelector(".key");
    this.word = parent.querySelector(".word");
    this.signs = new Key(this.frame, this.word);
    offerCopy(this.frame, () => standalone(this.lineBox.firstElementChild), () => "run");
    const place = parent.querySelector(".player");
    this.choice = new Choice(PATIENCE);
    const stopped = (number) => this.choice.tell(number);
    this.player = new Player(place, this.range, "phase", PACE, (at) => this.show(at), stopped);
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.lineBox);
  }

  update(given) {
    const { data } = given;
    this.frame.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify(data.points);
    const isNew = source !== this.source;
    if (isNew && this.points && data.points.length !== this.points.length) this.player.halt();
    this.points = data.points;
    this.names = data.names; // other words for the kinds of phases
    const word = data.word && JSON.stringify(data.word);
    if (word && word !== this.shownWord) {
      this.shownWord = word;
      this.rows = data.word.rows;
      this.showWord(data.word);
    }
    if (isNew) {
      this.source = source;
      this.draw();
    }
    const isTold = this.choice.hear(given) && !this.player.playing;
    this.player.set(0, this.points.length - 1, isTold ? data.chosen : this.player.at);
  }

  /** Mark a phase; what is below follows while it plays, without steps to come back from. */
  show(at) {
    this.mark(at);
    const playing = Boolean(this.player.playing);
    if (playing !== this.playing) this.choice.send?.("playing", (this.playing = playing));
    if (playing && at !== this.passed) this.choice.tell(at, 0);
    this.passed = playing ? at : null;
  }

  // --- drawing

  draw() {
    const width = this.lineBox.clientWidth;
    if (!this.points || !width) return;
    const both = this.points.flatMap(({ f1, beside }) => [f1, beside ?? null]);
    const values = both.filter((value) => value !== null);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const [span, last] = [Math.max(most - least, 1), this.points.length - 1];
    const gap = (width - 2 * ASIDE) / Math.max(6, last);
    const x = (number) => ASIDE + number * gap;
    const y = (f1) => HIGH - BELOW - 8 - ((f1 ?? least) - least) * ((HIGH - ABOVE - BELOW - 8) / span);
    const every = Math.ceil(40 / gap); // numbers that do not touch each other
    const isWide = gap > LETTER * Math.max(...this.points.map(({ label }) => label.length));
    const path = this.points.map(({ f1 }, number) => `${x(number)},${y(f1)}`).join(" ");
    const groups = this.points.map((point, number) => {
      const at = `translate(${x(number)} ${y(point.f1)})`;
      const group = drawn(
        "g",
        { class: `${point.kind}${point.undone ? " undone" : ""}`, "data-phase": number },
        drawn("title", {}, `${point.label}\n${point.said}`),
        drawn("rect", { x: x(number) - gap / 2, width: gap, height: HIGH }),
        drawn("circle", { r: 12, transform: at }),
        drawn("path", { d: SHAPES[point.kind], transform: at }),
      );
      if (number === last || (number % every === 0 && last - number >= every)) {
        const first = this.points[number - every]?.iteration ? "" : "round ";
        const label = isWide || !point.iteration ? point.label : `${first}${point.iteration}`;
        group.append(
          drawn("text", { x: x(number), y: y(point.f1) - 15 }, point.value),
          drawn("text", { x: x(number), y: HIGH - 8 }, label),
        );
      }
      group.addEventListener("click", () => this.player.go(number));
      return group;
    });
    const line = drawn("polyline", { points: path });
    const size = { viewBox: `0 0 ${width} ${HIGH}`, height: HIGH, role: "img" };
    const picture = drawn("svg", { ...size, "aria-label": "F1 after each phase" }, line);
    // Another score of the same phases: on the words that a run has learned from.
    const others = this.points.filter(({ beside }) => beside !== null && beside !== undefined);
    if (others.length === this.points.length && last > 0) {
      const path = others.map(({ beside }, number) => `${x(number)},${y(beside)}`).join(" ");
      const label = `words learned from: ${others[last].beside.toFixed(1)}`;
      picture.append(drawn("polyline", { class: "beside", points: path }));
      groups.push(drawn("text", { class: "seen", x: width - ASIDE + 20, y: y(others[last].beside) - 8 }, label));
    }
    picture.append(...groups);
    this.lineBox.replaceChildren(picture);
    const one = this.points.length < 2;
    this.range.style.visibility = one ? "hidden" : "";
    this.range.style.marginLeft = `${ASIDE - 8}px`;
    this.range.style.width = `${(this.points.length - 1) * gap + 16}px`;
    const kinds = Object.keys(NAMES).filter((kind) => this.points.some((one) => one.kind === kind));
    this.key.replaceChildren(
      ...kinds.map((kind) => {
        const sample = drawn("svg", { viewBox: "-8 -8 16 16" }, drawn("path", { d: SHAPES[kind] }));
        const name = made("span", kind);
        name.append(sample, (this.names ?? NAMES)[kind]);
        return name;
      }),
    );
    this.mark(this.player.at);
  }

  showWord(word) {
    this.word.replaceChildren();
    const row = (label, chips, kind) => {
      const shown = made("div", `row ${kind}`);
      shown.append(label, chips);
      this.word.append(shown);
    };
    const gold = made("div", "chips gold");
    for (const morph of word.morphs) gold.append(made("span", "chip", morph));
    if (!word.morphs.length) gold.append(made("span", "none", "not in the reference"));
    row(this.field(word), gold, "gold");
    for (const { label, tokens } of word.rows) {
      const chips = made("div", "chips");
      chips.append(...tokens.map((token) => chipOf(token)));
      row(made("span", "label", label), chips, "tokens");
    }
    this.signs.update();
  }

  /** Where another word is typed or chosen. */
  field({ text, examples }) {
    const field = Object.assign(made("input"), { type: "text", value: text, maxLength: 200 });
    field.setAttribute("aria-label", "A word through the run");
    field.setAttribute("list", "run-examples");
    const list = Object.assign(made("datalist"), { id: "run-examples" });
    for (const example of examples) list.append(Object.assign(made("option"), { value: example }));
    // All examples are offered, not only those that begin with what is there.
    field.addEventListener("focus", () => field.select());
    field.addEventListener("change", () => this.choice.send?.("word", field.value));
    const both = made("span", "field");
    both.append(field, list);
    return both;
  }

  /** Show which phase is chosen, and what there is to say about it. */
  mark(chosen) {
    const point = this.points?.[chosen];
    if (!point) return;
    for (const group of this.lineBox.querySelectorAll("g")) {
      group.classList.toggle("chosen", Number(group.dataset.phase) === chosen);
    }
    this.range.setAttribute("aria-valuetext", `${point.label}, F1 ${point.value}`);
    this.said.replaceChildren(made("b", point.kind, point.label), `  ${point.said}`);
    const rows = [...this.word.querySelectorAll(".row.tokens")];
    rows.forEach((row, number) => {
      const now = this.rows[number].phases.includes(chosen);
      row.classList.toggle("now", now);
      const least = row.offsetLeft + row.offsetWidth - this.word.clientWidth;
      if (now && rows.length > 1) this.word.scrollLeft = Math.min(row.offsetLeft, Math.max(this.word.scrollLeft, least));
    });
  }

  dispose() {
    this.player.halt();
    this.choice.stop();
    this.resizing.disconnect();
  }
}

return component(RunView);

})();
story.components.rows = {"html":"<div class=\"rows signs\"></div>\n<div class=\"below signs\"></div>\n\n","css":".signs {\n  --right: #d9eee3;\n  --token: #ececf1;\n  --covered: #fadadd;\n  --cut: #a3122f;\n  --label: #0f6b45;\n  --new: #1565c0;\n}\n\n.signs.dark {\n  --right: #17402f;\n  --token: #2e313b;\n  --covered: #57202b;\n  --cut: #ff8f9c;\n  --label: #6fd3a6;\n  --new: #6ab0ff;\n}\n\n.label { font: 14px var(--st-code-font, monospace); opacity: 0.85; }\n.gold .label, .label.gold, .key .gold { color: var(--label); opacity: 1; }\n.chips { display: flex; flex-wrap: wrap; gap: 7px; min-height: 1px; }\n\n.chip {\n  display: inline-flex;\n  padding: 3px 12px;\n  border-radius: 7px;\n  background: var(--token);\n  font: 22px/1.5 var(--st-code-font, monospace);\n  white-space: pre;\n}\n\n.chips.gold .chip, .chip.morph { background: var(--right); }\n.chip.covering { background: var(--covered); }\n.chip.culprit { box-shadow: 0 0 0 2px var(--cut); }\n.chip.changed { box-shadow: 0 0 0 1.5px var(--new); }\n.chip.dropped { background: none; box-shadow: inset 0 0 0 1px color-mix(in srgb, currentColor 30%, transparent); text-decoration: line-through; }\n.cut { width: 3px; margin: -9px 1px; border-radius: 2px; background: var(--cut); }\n.cut.won { background: var(--label); }\n.exact { color: var(--label); font-weight: 700; }\n\n/* Tokens that share a letter touch each other. */\n.chip.half {\n  margin-inline-start: -0.25em;\n  border-inline-start: 1px dashed color-mix(in srgb, currentColor 60%, transparent);\n  border-start-start-radius: 0;\n  border-end-start-radius: 0;\n}\n\n.key { margin: 6px 2px 0; font-size: 12.5px; }\n.key > div { display: inline-flex; flex-wrap: wrap; gap: 4px 16px; margin-inline-start: 8px; }\n.key[open] { display: flex; align-items: baseline; }\n.key summary {\n  display: inline-block;\n  flex: none;\n  width: 1.5em;\n  border: 1px solid color-mix(in srgb, currentColor 35%, transparent);\n  border-radius: 50%;\n  line-height: 1.45;\n  text-align: center;\n  list-style: none;\n  cursor: pointer;\n}\n.key summary::-webkit-details-marker { display: none; }\n.key summary:focus-visible { outline: 2px solid var(--st-primary-color, #6d45e0); outline-offset: 1px; }\n.key .item { display: inline-flex; gap: 6px; align-items: baseline; }\n.key .chip { padding: 0 5px; border-radius: 4px; font-size: 12.5px; }\n.key .half { margin: 0; }\n.key .gold { font-family: var(--st-code-font, monospace); }\n.key .cut { align-self: stretch; width: 2px; margin: -1px; }\n.key .cut.won { width: 3px; }\n\n:host { display: block; }\n\n.rows {\n  box-sizing: border-box;\n  overflow: hidden auto;\n  container-type: inline-size;\n  padding: 2px;\n  color: var(--st-text-color, #262730);\n  font: 14px/1.3 var(--st-font, sans-serif);\n\n  --faded: #5f6370;\n  --link: #5b36c9;\n}\n\n.rows.dark { --faded: #a9aebb; --link: #b79bff; }\n\nh4 { display: flex; gap: 8px; align-items: baseline; margin: 2px 0 4px; font-size: 15px; font-weight: 600; }\nh4:not(:first-child) { margin-top: 14px; }\nh4 span { color: var(--faded); font-size: 12.5px; font-weight: 400; }\n\nbutton {\n  display: flex;\n  flex-wrap: wrap;\n  gap: 0 12px;\n  justify-content: space-between;\n  align-items: baseline;\n  width: 100%;\n  padding: 5px 4px;\n  border: 0;\n  border-bottom: 1px solid color-mix(in srgb, var(--st-text-color, #262730) 12%, transparent);\n  background: none;\n  color: inherit;\n  font: inherit;\n  text-align: left;\n  cursor: pointer;\n}\n\n.pair { display: flex; align-items: baseline; }\n.pair .gold { display: none; }\nbutton.closer { flex: none; width: auto; max-width: 55%; border: 0; color: var(--link); font: 13px var(--st-code-font, monospace); overflow-wrap: anywhere; }\nbutton.closer:hover { text-decoration: underline; }\nbutton.lit { background: color-mix(in srgb, var(--st-primary-color, #6d45e0) 10%, transparent); }\nbutton:focus-visible { outline: 2px solid var(--st-primary-color, #6d45e0); outline-offset: -2px; }\nbutton.marked { box-shadow: inset 3px 0 var(--st-primary-color, #6d45e0); }\nbutton.changed { animation: lit 1.4s ease-out; }\n\n.word { display: inline-flex; flex-wrap: wrap; gap: 3px; }\n.rows .chip { padding: 0 5px; border-radius: 5px; font-size: 14px; }\n.word .cut { width: 2px; margin: 1px; }\n.here { font-weight: 700; }\n.gold { color: var(--faded); font-size: 12.5px; overflow-wrap: anywhere; }\n.better { color: var(--label); }\n.worse { color: var(--cut); }\n.gold b { display: block; font-weight: 600; }\n.changed .gold { margin-left: auto; text-align: right; }\n.was { font-family: var(--st-code-font, monospace); }\n\n/* Letters stand above each other: lines take no room, and a long word is set smaller. */\n.both { font: clamp(9px, calc(96cqi / (0.62 * var(--letters))), 15px)/1.25 var(--st-code-font, monospace); white-space: pre; overflow-x: auto; }\n.both > span { display: block; width: max-content; }\n.both .chip { display: inline; padding: 2px 0; font: inherit; box-shadow: inset 1px 0 var(--st-background-color, #fff), inset -1px 0 var(--st-background-color, #fff); }\n.both .cut { position: relative; margin: 0; }\n.both .cut::before { content: \"\"; position: absolute; left: -1.5px; top: -0.2em; width: 3px; height: 1.5em; border-radius: 2px; background: inherit; }\n.tokens { padding: 3px 0; }\n.morphs { color: var(--label); }\n.morph { padding-bottom: 1px; background: linear-gradient(var(--label)) bottom / calc(100% - 3px) 1.5px no-repeat; }\n.note { padding: 4px; color: var(--faded); font-size: 12.5px; }\n\n@keyframes lit { from { background: color-mix(in srgb, var(--label) 30%, transparent); } }\n\n@media (prefers-reduced-motion: reduce) {\n  button.changed { animation: none; }\n}\n\n"};
story.components.rows.show = (() => {
// What all components share; goes before the script of each.

const RESEND = 4000; // ms after which clicks that nobody acknowledged are sent again

const painter = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext(
  "2d",
  { willReadFrequently: true },
);
const parsed = new Map();

/** Red, green and blue of a colour of CSS. */
function rgb(colour) {
  if (!parsed.has(colour)) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = "#888";
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    parsed.set(colour, [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3));
  }
  return parsed.get(colour);
}

/** Whether the page around an element of a component is dark. */
function isDark(parent) {
  const style = getComputedStyle(parent.host ?? parent);
  const [r, g, b] = rgb(style.getPropertyValue("--st-background-color").trim());
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** Numbered clicks, sent again until Python has acknowledged them. */
class Clicks {
  pending = [];
  sequence = 0;

  add(key, kind = "click") {
    this.sequence += 1;
    this.pending.push({ sequence: this.sequence, key, kind });
    this.flush();
  }

  flush() {
    clearTimeout(this.resending);
    if (!this.pending.length || !this.send) return;
    this.send("pending", [...this.pending]);
    this.resending = setTimeout(() => this.flush(), RESEND);
  }

  acknowledge({ data, setTriggerValue }) {
    const ack = data.ack ?? 0;
    this.send = setTriggerValue;
    this.sequence = Math.max(this.sequence, ack);
    this.pending = this.pending.filter(({ sequence }) => sequence > ack);
    if (!this.pending.length) clearTimeout(this.resending);
  }

  stop() {
    clearTimeout(this.resending);
    this.send = null;
  }
}

/** What is chosen here, of which Python hears when no other choice has followed for `patience`. */
class Choice {
  told = [];

  constructor(patience) {
    this.patience = patience; // ms
  }

  tell(chosen, patience = this.patience) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.told.push(chosen);
      this.send?.("chosen", chosen);
    }, patience);
  }

  /** Whether what Python says is chosen is to be shown: not while it has yet to hear of a newer. */
  hear({ data, setStateValue }) {
    this.send = setStateValue;
    const heard = this.told.lastIndexOf(data.chosen);
    if (heard >= 0) this.told.splice(0, heard + 1);
    else if (data.chosen !== this.known) this.told = []; // chosen elsewhere
    this.known = data.chosen;
    return !this.waiting && !this.told.length;
  }

  stop() {
    clearTimeout(this.waiting);
    this.send = null;
  }
}

/** Whether a pointer has moved: what moves under one that rests gets its events, too. */
function hasMoved({ movementX, movementY }) {
  return movementX !== 0 || movementY !== 0;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * What a component exports: it is called again at every change of data or theme with the same
 * parent element, so the view of that element is kept, and updates itself by difference. What it
 * returns is also called when newer data came while its script was loading: the view goes only if
 * its element has left the page.
 */
function component(View) {
  const views = new WeakMap(); // an element's view, and the calls that hold, the latest last
  return (given) => {
    const { parentElement } = given;
    if (!views.has(parentElement)) views.set(parentElement, { view: new View(parentElement), calls: [] });
    const { view, calls } = views.get(parentElement);
    calls.push(given);
    view.update(given);
    return () => {
      const wasShown = calls.at(-1) === given;
      if (calls.includes(given)) calls.splice(calls.indexOf(given), 1);
      if (!parentElement.isConnected && views.delete(parentElement)) view.dispose();
      // It came late, after newer data, which holds.
      else if (parentElement.isConnected && wasShown && calls.length) view.update(calls.at(-1));
    };
  };
}

// Making elements; text nodes only, for words and types come from uploaded files.

const SVG_NAMES = "http://www.w3.org/2000/svg";

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG_NAMES, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}


// Words as chips: each token with the gold boundaries that it covers, and the key of their signs.

/** What shows that a sign is there, an example of it, and what it means. */
const SIGNS = [
  [".gold .chip, .morphs", "gold", "go|ld", "where the reference cuts"],
  [".chip.morph", "chip morph", "morph", "a token as in the gold"],
  [".chip:not(.gold .chip, .morph, .covering, .dropped)", "chip", "token", "a token"],
  [".chip.covering", "chip covering", "to|ken", "a token over a gold boundary"],
  [".chip.culprit", "chip culprit", "token", "made by the merge most to blame"],
  [".chip.half", "chip half", "½", "a token that begins inside a letter"],
  [".chip.dropped", "chip dropped", "token", "left out: no model sees it"],
  [".exact", "exact", "✓", "cut just as in the gold"],
  [".cut.won", "cut won", "", "a gold boundary that was covered before"],
  [".here", "here", "type", "the type looked at"],
];

/** A token, with a line at each gold boundary that it covers. */
function chipOf({ segments, tooltip, is_culprit: culprit, is_morph: morph, is_half: half }, kind = "span") {
  const chip = made(kind, "chip");
  chip.title = tooltip;
  chip.classList.toggle("culprit", culprit);
  chip.classList.toggle("morph", morph);
  chip.classList.toggle("half", half);
  for (const segment of segments) extend(chip, segment);
  return chip;
}

/** Add to a token what follows, after a gold boundary unless it is the first. */
function extend(chip, text, kind = "") {
  if (chip.firstChild) {
    chip.append(made("span", "cut"));
    chip.classList.add("covering");
  }
  chip.append(made("span", kind, text));
}

/**
 * The tokens of a word given in pieces: text, what is before it (start, right, wrong, missed, split,
 * inside or marker; none within a token), and a kind: here, or dropped.
 */
function chipsOf(pieces, isKnown) {
  const chips = [];
  for (const [text, boundary, kind] of pieces) {
    if (chips.length && !boundary) chips.at(-1).chip.append(made("span", kind, text));
    else if (chips.length && boundary === "missed") extend(chips.at(-1).chip, text, kind);
    else {
      const chip = made("span", `chip${boundary === "inside" ? " half" : ""}${kind === "dropped" ? " dropped" : ""}`);
      extend(chip, text, kind);
      chips.push({ chip, left: boundary || "start" });
    }
  }
  const within = ["wrong", "inside", "marker"]; // what cuts a morph, or cuts no word
  chips.forEach(({ chip, left }, number) => {
    const right = chips[number + 1]?.left ?? "start";
    const is = isKnown && !within.includes(left) && !within.includes(right);
    chip.classList.toggle("morph", is && !chip.matches(".covering, .dropped"));
  });
  return chips.map(({ chip }) => chip);
}

/** The meaning of the signs that stand in an element, behind a question mark. */
class Key {
  constructor(parent, frame, isOpen = false) {
    this.frame = frame;
    this.items = SIGNS.map(([sign, kind, text, meaning]) => {
      const [item, sample] = [made("span", "item"), made("span", kind)];
      const parts = kind.includes("covering") ? text.split("|") : [text];
      for (const part of parts) extend(sample, part);
      item.append(sample, meaning);
      return { sign, item };
    });
    this.list = made("div");
    this.details = made("details", "key");
    const mark = made("summary", "", "?");
    mark.title = "What the signs mean";
    mark.setAttribute("aria-label", mark.title);
    this.details.append(mark, this.list);
    this.details.open = isOpen;
    this.details.hidden = true;
    parent.append(this.details);
  }

  update() {
    const shown = this.items.filter(({ sign }) => this.frame.querySelector(sign));
    this.list.replaceChildren(...shown.map(({ item }) => item));
    if (this.frame.textContent.includes("␣")) {
      const item = made("span", "item");
      item.append(made("span", "chip", "␣"), "start of a word");
      this.list.append(item);
    }
    this.details.hidden = !this.list.firstChild;
  }
}

// Words beside the merge graph: pointing at one lights its path there, and vertices mark theirs here.
// Text nodes only, for words come from uploaded files.

const BEFORE = { "|": "right", "·": "wrong", "‿": "missed", "": "" };

class RowsView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".rows");
    this.clicks = new Clicks();
    this.key = new Key(parent.querySelector(".below"), this.frame);
    this.buttons = [];
    this.onVertex = ({ detail }) => this.mark(detail);
    addEventListener("morphgraph-vertex", this.onVertex);
  }

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    for (const part of this.parent.querySelectorAll(".signs")) part.classList.toggle("dark", isDark(this.parent));
    this.frame.style.maxHeight = data.height;
    const told = JSON.stringify(data.groups);
    if (told === this.told) return;
    this.told = told;
    this.light();
    this.buttons = [];
    this.frame.replaceChildren(...data.groups.flatMap((group) => this.group(group)));
    this.key.update();
  }

  group({ title, count, rows, more, kind }) {
    const head = made("h4", "", title);
    head.append(made("span", "", count));
    const shown = rows.map((row) => (row.closer ? this.pair(row, kind) : this.row(row, kind)));
    return [head, ...shown, ...(more ? [made("div", "note", more)] : [])];
  }

  /** A word, and the type that covers its boundary now. */
  pair({ number, closer: [type, name], ...row }, kind) {
    const link = made("button", "closer", name);
    link.type = "button";
    link.title = `${name} covers the boundary now. A click chooses it.`;
    link.setAttribute("aria-label", link.title);
    link.addEventListener("click", () => this.clicks.add(`${number}:${type}`));
    const pair = made("div", "pair");
    pair.append(this.row({ number, ...row }, kind), link);
    return pair;
  }

  row({ number, gold, pieces, keys, gain, was, won, word }, kind) {
    const button = made("button", kind);
    button.type = "button";
    const isChanged = kind === "changed";
    const cut = isChanged ? this.tokensOverGold(pieces, won, gold) : made("span", "word");
    if (!isChanged) {
      const parts = pieces.map(([text, sign, here]) => [text, BEFORE[sign], here ? "here" : ""]);
      cut.append(...chipsOf(parts, Boolean(gold)));
    }
    cut.dir = "auto";
    const spoken = pieces.map(([text, sign]) => sign + text).join("");
    const [opens, shows] = word ? [` Opens the merge tree of ${word}.`, "A click shows its merge tree."] : ["", ""];
    button.setAttribute("aria-label", `${spoken}${gold && `, gold ${gold}`}.${opens}`);
    button.title = `${gold && `gold ${gold}\n`}${shows}`;
    const side = made("span", "gold", isChanged ? "" : gold && `gold ${gold}`);
    if (isChanged) {
      const verdict = gain > 0 ? "better" : gain < 0 ? "worse" : "same score";
      if (gold) side.append(made("b", verdict, verdict));
      side.append(made("span", "was", `was ${was}`));
    }
    button.append(cut, side);
    button.addEventListener("pointermove", (event) => hasMoved(event) && this.light(button, keys));
    button.addEventListener("focus", () => this.light(button, keys));
    for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => this.light());
    button.addEventListener("click", () => this.clicks.add(String(number)));
    this.buttons.push({ button, keys: new Set(keys) });
    return button;
  }

  /** Tokens with their gold morphs below, letter by letter; a green line is a boundary that was won. */
  tokensOverGold(pieces, won, gold) {
    const both = made("span", "both");
    const [above, below] = [made("span", "tokens"), made("span", "morphs")];
    let at = 0;
    let [token, morph] = [null, null];
    for (const [text, sign] of pieces) {
      if (!token || sign === "|" || sign === "·") above.append((token = made("span", "chip")));
      if (!morph || sign === "|" || sign === "‿") below.append((morph = made("span", "morph")));
      if (sign === "‿" || won.includes(at)) {
        token.append(made("i", `cut${sign === "‿" ? "" : " won"}`));
      }
      if (sign === "‿") token.classList.add("covering");
      token.append(text);
      morph.append(text);
      at += [...text].length;
    }
    both.style.setProperty("--letters", at);
    both.append(above, ...(gold ? [below] : []));
    return both;
  }

  /** Let the graph light up the types and merges of a row, or nothing in particular. */
  light(button, keys) {
    if (button === this.lit) return;
    this.lit?.classList.remove("lit");
    this.lit = button;
    button?.classList.add("lit");
    dispatchEvent(new CustomEvent("morphgraph-word", { detail: keys }));
  }

  mark(key) {
    for (const { button, keys } of this.buttons) button.classList.toggle("marked", keys.has(key));
  }

  dispose() {
    this.clicks.stop();
    this.light();
    removeEventListener("morphgraph-vertex", this.onVertex);
  }
}

return component(RowsView);

})();
