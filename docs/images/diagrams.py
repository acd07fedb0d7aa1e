"""Draw steps.svg and annealing.svg next to this script: python3 docs/images/diagrams.py"""

import math
import pathlib
import random

BLUE, ORANGE, GREEN, GREY, INK = "#0072b2", "#d55e00", "#009e73", "#999999", "#222222"


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def svg(name, width, height, title, description, body):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-labelledby="title desc" font-family="Helvetica, Arial, sans-serif" font-size="14">\n'
        f'<title id="title">{title}</title>\n<desc id="desc">{description}</desc>\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
    )
    pathlib.Path(__file__).with_name(name).write_text(head + "\n".join(body) + "\n</svg>\n")


def text(x, y, words, **style):
    attributes = {"text-anchor": "middle", "fill": INK} | {k.replace("_", "-"): v for k, v in style.items()}
    return f'<text x="{x:.1f}" y="{y:.1f}" ' + " ".join(f'{k}="{v}"' for k, v in attributes.items()) + f">{words}</text>"


def path(points, colour, width=1.5, fill="none"):
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="{fill}" stroke="{colour}" stroke-width="{width}"/>'


# One unit with a bias b and a weight w for a parent that is on in 90 % of the rows. In the data, the
# unit is on with its probability at b = 1, w = 1.
PARENT = ((0, 0.1), (1, 0.9))


def divergence(b, w):
    total = 0
    for u, share in PARENT:
        p, q = sigmoid(1 + u), sigmoid(b + w * u)
        total += share * (p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)))
    return total


def descent(b, w, rate, natural, steps):
    points = [(b, w)]
    for _ in range(steps):
        gb = gw = fbb = fbw = 0
        for u, share in PARENT:
            q = sigmoid(b + w * u)
            gb += share * (q - sigmoid(1 + u))
            gw += share * (q - sigmoid(1 + u)) * u
            fbb += share * q * (1 - q)
            fbw += share * q * (1 - q) * u  # also the entry (w, w), since u is 0 or 1
        if natural:
            det = fbb * fbw - fbw * fbw
            gb, gw = (fbw * gb - fbw * gw) / det, (fbb * gw - fbw * gb) / det
        b, w = b - rate * gb, w - rate * gw
        points.append((b, w))
    return points


def contour(level, to, low, high, cells):
    """Return an SVG path along which the divergence equals a level, by marching squares."""
    pieces = []
    at = [low + (high - low) * i / cells for i in range(cells + 1)]
    for i in range(cells):
        for k in range(cells):
            corners = [(at[i], at[k]), (at[i + 1], at[k]), (at[i + 1], at[k + 1]), (at[i], at[k + 1])]
            values = [divergence(*c) - level for c in corners]
            cut = []
            for n in range(4):
                (c, f), (d, g) = (corners[n], values[n]), (corners[(n + 1) % 4], values[(n + 1) % 4])
                if (f < 0) != (g < 0):
                    t = f / (f - g)
                    cut.append(to(c[0] + t * (d[0] - c[0]), c[1] + t * (d[1] - c[1])))
            if len(cut) == 2:
                pieces += [f"M{cut[0][0]:.1f} {cut[0][1]:.1f}L{cut[1][0]:.1f} {cut[1][1]:.1f}"]
    return f'<path d="{"".join(pieces)}" stroke="#cccccc"/>'


def steps():
    low, high, size, gap = -2.5, 3.0, 300, 90
    body = []
    for column, (name, natural, rate, colour) in enumerate((("plain gradient", False, 2, BLUE), ("natural gradient", True, 0.5, ORANGE))):
        left = 60 + column * (size + gap)

        def to(b, w):
            return left + size * (b - low) / (high - low), 50 + size * (high - w) / (high - low)

        for k in range(1, 12):
            body += [contour(0.0015 * 2**k, to, low, high, 40)]
        points = [to(*p) for p in descent(-2, -0.5, rate, natural, 8)]
        body += [path(points, colour, 2)]
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points]
        x, y = to(1, 1)
        body += [f'<path d="M{x - 6:.1f} {y - 6:.1f}l12 12m0 -12l-12 12" stroke="{INK}" stroke-width="2"/>']
        body += [f'<rect x="{left}" y="50" width="{size}" height="{size}" fill="none" stroke="{GREY}"/>']
        body += [text(left + size / 2, 32, f"{name}, eight steps", font_weight="bold"), text(left + size / 2, 374, "bias b"), text(left - 16, 200, "weight w", transform=f"rotate(-90 {left - 16} 200)")]
    svg("steps.svg", 800, 390, "Eight steps of plain and of natural gradients",
        "Contours of the Kullback-Leibler divergence of a unit with a bias and a weight, whose parent is on in nine rows of ten. Plain gradient steps fall into the valley and then crawl along it; natural gradient steps go to the minimum.", body)


# A distribution with two modes, and its tempered versions.
def energy(x):
    return -math.log(math.exp(-((x + 1.6) ** 2) / 0.18) + 0.6 * math.exp(-((x - 1.5) ** 2) / 0.3) + 1e-9)


def annealing():
    random.seed(2)
    grid = [-3 + 6 * i / 200 for i in range(201)]
    size, gap = 130, 20
    body, chains = [], [random.uniform(-3, 3) for _ in range(24)]
    betas = (0, 0.05, 0.2, 0.5, 1)
    for column, beta in enumerate(betas):
        left = 25 + column * (size + gap)
        for _ in range(200 if beta else 0):  # Metropolis steps
            for c, x in enumerate(chains):
                y = x + random.gauss(0, 0.3)
                if abs(y) < 3 and random.random() < math.exp(min(0, beta * (energy(x) - energy(y)))):
                    chains[c] = y
        density = [math.exp(-beta * energy(x)) for x in grid]
        scale = 110 / (max(density) if beta else 2)
        points = [(left + size * (x + 3) / 6, 170 - scale * d) for x, d in zip(grid, density)]
        body += [path([(left, 170)] + points + [(left + size, 170)], BLUE, 1.5, "#dcebf5")]
        body += [f'<circle cx="{left + size * (x + 3) / 6:.1f}" cy="{182 + 5 * (c % 3)}" r="2.5" fill="{ORANGE}"/>' for c, x in enumerate(chains)]
        body += [text(left + size / 2, 34, f"β = {beta}", font_weight="bold")]
        if column:
            body += [text(left - gap / 2, 110, "→", font_size="18")]
    body += [text(395, 220, "p_β(v) ∝ e^(−βE(v)): chains begin where sampling and Z are easy, and take a few steps at each β", fill=INK)]
    svg("annealing.svg", 790, 240, "Annealing from an easy distribution to the model",
        "Five densities, from a flat one at beta 0 to one with two narrow modes at beta 1. Below each are the chains, which move from one to the next and end in both modes.", body)


steps()
annealing()
