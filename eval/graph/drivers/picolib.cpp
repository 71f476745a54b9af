// Instantiates the virtual members of picolib's templates: nobody names them in a call.
#include <memory>

#include "Manager/PicManager.h"
#include "Particles/Particles.h"
#include "Solvers/PoissonSolver.h"

namespace {

    using Scalar = pico::Field<double, 2>;

    template <typename T>
    void attribute(pico::Attribute<T>& a) {
        a.pico::template Attribute<T>::create(1);
        a.pico::template Attribute<T>::destroy({});
        a.pico::template Attribute<T>::unpack(a.pico::template Attribute<T>::pack({}));
        a = T();
        a.size();
    }

    template <typename Solver>
    void solver(Solver& solver, Scalar& x) {
        solver.Solver::operator()(x, x, pico::StopCriterion{});
        solver.Solver::iterations();
        solver.Solver::setOperator({});
    }

    template <typename Face>
    void face(Face& face, Scalar& field) {
        face.Face::kind();
        face.Face::apply(field);
        face.Face::assignGhostToInterior(field);
    }

}  // namespace

void instantiate(Scalar& field) {
    pico::Attribute<double> charge;
    pico::Attribute<pico::Vector<double, 2>> position;
    attribute(charge);
    attribute(position);
    pico::CG<Scalar> plain;
    using Jacobi = pico::JacobiPreconditioner<Scalar>;
    pico::CG<Scalar, Jacobi> preconditioned{Jacobi(4.0)};
    solver(plain, field);
    solver(preconditioned, field);
    Jacobi jacobi(2.0);
    jacobi.Jacobi::apply(field, field);
    pico::PeriodicFace<Scalar> periodic(0, pico::Face::Lower);
    pico::DirichletFace<Scalar> dirichlet(0, pico::Face::Lower, 1.0);
    pico::ExtrapolateFace<Scalar> extrapolate(0, pico::Face::Lower);
    face(periodic, field);
    face(dirichlet, field);
    face(extrapolate, field);
}
