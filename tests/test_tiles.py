"""Operands large enough to be walked in tiles: columns, short rows, casts in blocks, streamed outputs."""

from functools import partial
from itertools import permutations, product

import numpy as np
import pytest
from layouts import NUMERIC, WIDEST, counting, filled, laid_out, swapped
from oracle import compare

import tensoriter

add = partial(compare, tensoriter.add, np.add)

CODES = [*NUMERIC, *WIDEST]
# No length is a multiple of a tile's rows, of a vector or of a cache line.
SHAPE = (37, 13, 19)


def permuted(values, axes, **layout):
    """The values with their axes in memory in that order."""
    return laid_out(values, axes=axes, **layout)


class TestColumns:
    """Operands that run along different axes."""

    @pytest.mark.parametrize("code", CODES)
    def test_transposed(self, code):
        square = filled((67, 67), code)
        add(square, square.T)
        add(square.T, square)
        add(square, square.T, out=np.zeros_like(square))
        add(square, square, out=np.zeros_like(square.T).T)
        add(square, square.T, out=square)

    @pytest.mark.parametrize("first", list(permutations(range(3))))
    def test_every_order_of_three_axes(self, first):
        x, y = filled(SHAPE, "d"), filled(SHAPE, "d", seed=1)
        for second, third in product(permutations(range(3)), repeat=2):
            add(permuted(x, first), permuted(y, second))
            add(permuted(x, first), permuted(y, second), out=permuted(np.zeros(SHAPE), third))

    @pytest.mark.parametrize("code", "bhfdDg")
    def test_with_gaps_backwards_and_out_of_line(self, code):
        x, y = filled((61, 43), code), filled((61, 43), code, seed=1)
        for steps in product((1, -1, 2, -3), repeat=2):
            for offset in (0, 16, 48):
                columns = permuted(x, (1, 0), steps=steps, offset=offset)
                add(columns, y)
                add(y, columns, out=permuted(np.zeros_like(x), (1, 0), steps=steps))

    @pytest.mark.parametrize("own", CODES)
    def test_cast_swapped_and_misaligned(self, own):
        columns = filled((53, 41), own).T
        other = filled((41, 53), "f")
        add(columns.astype(swapped(own), order="K"), other)
        add(other, laid_out(columns, axes=(1, 0), offset=1))
        add(columns, other.astype("D"), out=np.zeros((53, 41), "D").T)
        if own in "bhilefd":
            add(columns, columns.T.reshape(41, 53), out=np.zeros((53, 41), swapped(own)).T)

    def test_more_operands_than_one_go_in_columns(self):
        x = [filled((40, 50, 30), "d", seed=k) for k in range(2)]
        outs = np.zeros((30, 50, 40))
        add(x[0], x[1].transpose(0, 2, 1).copy().transpose(0, 2, 1), out=outs.T)
        add(np.asfortranarray(x[0]), np.asfortranarray(x[1]), out=np.zeros((40, 50, 30)))

    def test_where(self):
        square = filled((67, 67), "d")
        add(square, square.T, out=np.zeros((67, 67)), where=filled((67, 67), "?").T)


class TestShortRows:
    """A short innermost dimension beside a long one."""

    @pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 8, 9])
    @pytest.mark.parametrize("code", "?bhfdDg")
    def test_rows(self, code, width):
        n = 1500
        rows, one = filled((n, width), code), filled((n, 1), code, seed=1)
        add(rows, rows[0])
        add(rows, one)
        add(one, rows)
        add(rows.T, rows[0][:, None])
        wide = laid_out(rows, steps=[1, 2])
        add(wide, wide)
        add(laid_out(filled((n, width + 1), code))[:, :width], rows)
        add(rows, one, out=laid_out(np.zeros_like(rows), steps=[1, -1]))

    @pytest.mark.parametrize("width", [1, 3, 8, 30])
    @pytest.mark.parametrize(("narrow", "wide"), [("i", "d"), ("b", "f"), ("e", "f"), ("f", "D"), ("?", "g")])
    def test_cast_rows(self, narrow, wide, width):
        n = 700
        rows = filled((n, width + 1), narrow)[:, :width]
        add(rows, filled((n, width), wide))
        add(filled((n, width), wide), rows[:1])
        add(rows, filled((n, 1), wide))
        add(rows.astype(swapped(narrow)), rows, out=np.zeros((n, width), wide))
        add(rows, rows, out=np.zeros((n, width + 2), wide)[:, 1:-1])

    def test_many_short_dimensions(self):
        x = counting((2, 3, 2, 3, 2, 3, 2, 3, 2, 3), "d")
        add(x, x[::-1, :, ::-1, :, :, ::-1])
        add(x.transpose(9, 1, 3, 5, 7, 0, 2, 4, 6, 8), x[0, 0, 0, 0].reshape(2, 3, 2, 3, 2, 3)[..., :1, :])
        add(x.astype("f"), x.T.reshape(x.shape))


class TestBlocks:
    """Casts and changes of byte order, in lengths round a block's and over several."""

    @pytest.mark.parametrize("own", CODES)
    def test_lengths(self, own):
        for n in (511, 512, 513, 1023, 1024, 1025, 2049, 5000):
            x = filled(n, own, seed=n)
            for other in ("f", "D", "q", own):
                y = filled(n, other, seed=n + 1)
                add(x, y)
                add(x.astype(swapped(own)), y)
                add(y, laid_out(x, offset=1))
                add(x, y, out=np.zeros(n, "D" if own not in "gG" else "G"))
                add(x, y[:1])

    @pytest.mark.parametrize("code", "hifd")
    def test_masked(self, code):
        n = 5000
        x, mask = filled(n, code), filled(n, "?", seed=2)
        mask[1000:4000] = True
        for layout in ({}, {"steps": [2]}, {"offset": 1}):
            add(laid_out(x, **layout), x, out=np.zeros(n, code), where=mask)
            add(x.astype(swapped(code)), x, out=np.zeros(n, code), where=mask[::-1])


class TestEveryHalf:
    """float16 casts, which the hardware does where it does them right: all values there are."""

    HALVES = np.arange(1 << 16, dtype="u2").view("e")

    def test_to_wider(self):
        for code in "fdgFDG":
            with np.errstate(all="ignore"):
                add(self.HALVES, np.zeros(self.HALVES.size, code))
            add(self.HALVES, np.zeros(self.HALVES.size, code), errstate={"all": "call"})

    def test_from_float32(self):
        """Each half, the midpoints between neighbours and what lies just beside them."""
        exact = self.HALVES[np.isfinite(self.HALVES)].astype("f")
        beside = [np.nextafter(exact, np.float32(sign * np.inf)) for sign in (-1, 1)]
        bits = exact.view("u4") + np.uint32(0x1000)
        middle = bits.view("f")
        near = [np.nextafter(middle, np.float32(sign * np.inf)) for sign in (-1, 1)]
        values = np.concatenate([exact, *beside, middle, *near, np.float32([np.nan, np.inf, -np.inf, 1e30])])
        for single in (values, np.random.default_rng(0).permutation(values)):
            add(single, np.float32(-0.0), out=np.zeros(single.size, "e"), errstate={"all": "call"})
        for start in range(0, values.size - 8, 4001):   # flags of few elements, too
            add(values[start : start + 11], np.float32(-0.0), out=np.zeros(11, "e"), errstate={"all": "call"})


class TestSignallingNaN:
    """Which raise the invalid flag where they are computed with, not where they are cast."""

    @pytest.mark.parametrize("code", "fdgFD")
    def test_into_float16(self, code):
        quiet = np.zeros(2000, code)
        parts = quiet.view(quiet.real.dtype)
        if code in "fF":
            parts.view("u4")[::7] = 0x7F802000
        elif code in "dD":
            parts.view("u8")[::7] = 0x7FF0040000000000
        if code in "fdg":
            for x in (quiet, quiet[:9], quiet.reshape(40, 50).T, quiet[::-1]):
                add(x, np.float16(1), dtype="e", errstate={"all": "call"})
                add(x, np.float16(1), dtype="e", casting="unsafe", errstate={"all": "call"})
        add(quiet, quiet, errstate={"all": "call"})

    def test_reported_once(self):
        x = np.array([complex(1, 1)], "G") * np.finfo("g").max
        for other in (np.zeros(0), np.zeros(1), np.zeros(3)):
            add(x.astype(swapped("G")), other, dtype="D", casting="unsafe", errstate={"all": "call"})


class TestStreamed:
    """Outputs past the cache: operands of 32 MiB and more together."""

    N = 1_400_003

    @pytest.fixture(scope="class")
    @classmethod
    def pair(cls):
        return filled(cls.N, "d"), filled(cls.N, "d", seed=1)

    @staticmethod
    def same(*args, **kwargs):
        """As `compare`, which would describe and copy too much at this size."""
        with np.errstate(all="ignore"):
            own = {name: value.copy("K") for name, value in kwargs.items()}
            expected = np.add(*args, **own)
            actual = tensoriter.add(*args, **kwargs)
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        np.testing.assert_array_equal(actual, expected)
        finite = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual.real)[finite], np.signbit(expected.real)[finite])

    def test_fresh(self, pair):
        self.same(*pair)

    @pytest.mark.parametrize("offset", [0, 8, 16, 40, 56])
    def test_into_out_at_any_place(self, pair, offset):
        out = laid_out(np.zeros(self.N), offset=offset)
        self.same(*pair, out=out)
        guard = out.base
        assert (guard[:64] == 0x5A).all()
        assert (guard[-64:] == 0x5A).all()

    def test_in_place(self, pair):
        x = pair[0].copy()
        self.same(x, pair[1], out=x)

    def test_an_input_that_lies_behind(self, pair):
        room = np.resize(pair[0], self.N + 7)
        self.same(room[7:], pair[1], out=room[:-7])

    @pytest.mark.parametrize("code", "hfl")
    def test_cast_beside_it(self, pair, code):
        self.same(filled(self.N, code), pair[1])
        self.same(pair[0].astype(">f8"), filled(self.N, code))

    @pytest.mark.parametrize("width", [3, 64, 67, 1000])
    def test_rows(self, pair, width):
        rows = self.N // width
        x = pair[0][: rows * width].reshape(rows, width)
        self.same(x, x[::-1])
        self.same(x, x[:, ::-1], out=np.zeros((rows, width + 1))[:, 1:])

    def test_columns(self, pair):
        square = pair[0][: 1183 * 1183].reshape(1183, 1183)
        self.same(square, square.T)

    @pytest.mark.parametrize("code", "?bFDg")
    def test_elements_of_any_size(self, code):
        n = (32 << 20) // np.dtype(code).itemsize // 3 + 1000
        x = np.resize(filled(10_007, code), n)
        self.same(x, x[::-1])
        self.same(x, x, out=laid_out(np.zeros(n, code), offset=1)[:n])

    def test_reported_once(self, pair):
        x = np.full(self.N, 1e308)
        with pytest.warns(RuntimeWarning, match="overflow encountered in add") as caught:
            tensoriter.add(x, x)
        assert len(caught) == 1
