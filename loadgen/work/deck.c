#include "loadgen/work/deck.h"

#include <math.h>

bool deck_init(struct deck *d, const double *shares, size_t n_kinds, struct rng *rng, struct err *e)
{
    double sum = 0;

    if (n_kinds == 0 || n_kinds > DECK_KINDS)
        return err_set(e, "a mix has 1 to %d operations", DECK_KINDS);
    for (size_t i = 0; i < n_kinds; i++) {
        if (!(shares[i] >= 0) || !isfinite(shares[i]))
            return err_set(e, "a share of the mix must be a number of at least 0");
        sum += shares[i];
    }
    if (!(sum > 0) || !isfinite(sum))
        return err_set(e, "the shares of the mix are all 0");

    *d = (struct deck){.rng = rng, .n_kinds = n_kinds};
    for (size_t i = 0; i < n_kinds; i++)
        d->frac[i] = shares[i] / sum;
    return true;
}

static void add_card(struct deck *d, size_t kind)
{
    d->cards[d->n_left++] = (uint8_t)kind;
    d->carry[kind] -= 1;
}

static void fill(struct deck *d)
{
    d->n_left = 0;
    for (size_t i = 0; i < d->n_kinds; i++) {
        d->carry[i] += d->frac[i] * DECK_CARDS;
        while (d->carry[i] >= 1 && d->n_left < DECK_CARDS)
            add_card(d, i);
    }

    /* The remaining cards go to the kinds that are owed most. */
    while (d->n_left < DECK_CARDS) {
        size_t most = 0;
        for (size_t i = 1; i < d->n_kinds; i++)
            if (d->frac[most] == 0 || (d->frac[i] > 0 && d->carry[i] > d->carry[most]))
                most = i;
        add_card(d, most);
    }

    for (size_t i = DECK_CARDS - 1; i > 0; i--) {
        size_t j = (size_t)rng_below(d->rng, i + 1);
        uint8_t t = d->cards[i];

        d->cards[i] = d->cards[j];
        d->cards[j] = t;
    }
}

size_t deck_deal(struct deck *d)
{
    if (d->n_left == 0)
        fill(d);
    return d->cards[--d->n_left];
}

bool deck_exchange(struct deck *d, size_t have, size_t want)
{
    if (d->frac[want] <= 0)
        return false;
    d->carry[have] += 1;
    d->carry[want] -= 1;
    return true;
}
