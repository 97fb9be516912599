"""Minimisation of any Python function, and the pieces it is made of: losses, penalties, links, projections, schedules.

>>> import numpy as np
>>> from hyperplan.optimize import minimize
>>> minimize(lambda x: ((x - 2) ** 2).sum(), lambda x: 2 * (x - 2), np.zeros(2), method="gradient").x.round(5).tolist()
[2.0, 2.0]
"""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._math.links import (
        LINKS,
        Link,
        distribution_link,
        half_slope_sigmoid,
        logit,
        odds,
        odds_ratio,
        probit,
        sigmoid,
        softmax,
    )
    from hyperplan._math.losses import LOSSES, Loss, MulticlassLoss, flooding, get_loss
    from hyperplan._math.penalties import (
        PENALTIES,
        Penalty,
        elastic_net_penalty,
        get_penalty,
        hard_threshold,
        l1_penalty,
        l2_penalty,
        no_penalty,
        soft_threshold,
    )
    from hyperplan._solvers.gradient import gradient_descent, subgradient_descent
    from hyperplan._solvers.lbfgs import lbfgs
    from hyperplan._solvers.nesterov import nesterov
    from hyperplan._solvers.newton import newton
    from hyperplan._solvers.projected import (
        Constraint,
        box,
        box_hyperplane,
        hyperplane,
        l1_ball,
        l2_ball,
        project_box,
        project_box_hyperplane,
        project_hyperplane,
        project_l1_ball,
        project_l2_ball,
        project_simplex,
        projected_gradient,
        simplex,
    )
    from hyperplan._solvers.proximal import proximal_gradient
    from hyperplan._solvers.rates import (
        Constants,
        gradient_bound,
        nesterov_bound,
        strongly_convex_bound,
        subgradient_bound,
    )
    from hyperplan._solvers.result import OptimizeResult
    from hyperplan._solvers.schedules import (
        Schedule,
        constant,
        exponential_decay,
        inverse_time,
        power_law,
    )
    from hyperplan._solvers.stochastic import stochastic_gradient
    from hyperplan.optimize._checks import (
        Chord,
        EarlyStopping,
        OptimalityConditions,
        check_gradient,
        convexity_counterexample,
        kkt_conditions,
    )
    from hyperplan.optimize._minimize import METHODS, minimize, numerical_gradient
    from hyperplan.optimize._penalized_linear import PenalizedFit, fit_penalized_linear

__getattr__, __dir__, __all__ = lazy_names(__name__)
