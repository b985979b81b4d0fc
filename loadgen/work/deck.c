#include "loadgen/work/workload.h"

void deck_init(struct deck *d, const double shares[DECK_KINDS], struct rng rng)
{
    double sum = 0;

    *d = (struct deck){.rng = rng};
    for (size_t i = 0; i < DECK_KINDS; i++)
        sum += shares[i];
    for (size_t i = 0; i < DECK_KINDS; i++)
        d->frac[i] = shares[i] / sum;
}

static void add_card(struct deck *d, size_t kind)
{
    d->cards[d->n_left++] = (uint8_t)kind;
    d->carry[kind] -= 1;
}

static void fill(struct deck *d)
{
    d->n_left = 0;
    for (size_t i = 0; i < DECK_KINDS; i++) {
        d->carry[i] += d->frac[i] * DECK_CARDS;
        while (d->carry[i] >= 1 && d->n_left < DECK_CARDS)
            add_card(d, i);
    }

    /* The remaining cards go to the kinds that are owed most. */
    while (d->n_left < DECK_CARDS) {
        size_t most = 0;
        for (size_t i = 1; i < DECK_KINDS; i++)
            if (d->frac[most] == 0 || (d->frac[i] > 0 && d->carry[i] > d->carry[most]))
                most = i;
        add_card(d, most);
    }

    for (size_t i = DECK_CARDS - 1; i > 0; i--) {
        size_t j = (size_t)rng_below(&d->rng, i + 1);
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
