"""Prices of European options after Black and Scholes, a thread an option; the normal distribution by Abramowitz and Stegun 26.2.17."""

import math

import numpy as np
from numba import cuda, njit, prange

SIZE, SIMULATOR_SIZE = 1 << 18, 1 << 11
BLOCK = 256
RATE, VOLATILITY = 0.02, 0.30
OUTPUTS, TOLERANCE = (3, 4), 1e-5


def normal(d):
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * math.exp(-0.5 * d * d) * series
    return 1.0 - tail if d > 0 else tail


normal_device = cuda.jit(device=True)(normal)
normal_host = njit(error_model="numpy", inline="always")(normal)


@cuda.jit
def price_kernel(price, strike, years, call, put):
    i = cuda.grid(1)
    if i < price.size:
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i]) / (VOLATILITY * root)
        d2 = d1 - VOLATILITY * root
        first, second = normal_device(d1), normal_device(d2)
        discounted = strike[i] * math.exp(-RATE * years[i])
        call[i] = price[i] * first - discounted * second
        put[i] = discounted * (1.0 - second) - price[i] * (1.0 - first)


@njit(parallel=True, error_model="numpy", fastmath=True)
def prices(price, strike, years, call, put):
    for i in prange(price.size):
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i]) / (VOLATILITY * root)
        d2 = d1 - VOLATILITY * root
        first, second = normal_host(d1), normal_host(d2)
        discounted = strike[i] * math.exp(-RATE * years[i])
        call[i] = price[i] * first - discounted * second
        put[i] = discounted * (1.0 - second) - price[i] * (1.0 - first)


def arguments(size, random):
    return [random.uniform(5, 30, size), random.uniform(1, 100, size), random.uniform(0.25, 10, size), np.zeros(size), np.zeros(size)]


def work(size):
    return -(-size // BLOCK) * BLOCK


def launch(price, *rest):
    price_kernel[-(-price.size // BLOCK), BLOCK](price, *rest)


def compute(*arrays):
    prices(*arrays)


def reference(price, strike, years, *_):
    """With the error function, not with the series that the kernels have."""
    erf = np.frompyfunc(math.erf, 1, 1)
    cumulative = lambda d: 0.5 * (1.0 + erf(d / math.sqrt(2.0)).astype(np.float64))
    d1 = (np.log(price / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / (VOLATILITY * np.sqrt(years))
    d2 = d1 - VOLATILITY * np.sqrt(years)
    discounted = strike * np.exp(-RATE * years)
    call = price * cumulative(d1) - discounted * cumulative(d2)
    return [call, discounted * cumulative(-d2) - price * cumulative(-d1)]
