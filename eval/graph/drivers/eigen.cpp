// Instantiates Eigen's dense, sparse and geometric parts over real and complex scalars.
#include <Eigen/Dense>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/OrderingMethods>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <Eigen/SparseQR>
#include <Eigen/StdVector>

#include <complex>
#include <iostream>
#include <vector>

using namespace Eigen;

template <class M>
void dense(M a) {
    using Scalar = typename M::Scalar;
    M b = M::Random(4, 4), c = M::Zero(4, 4), d = M::Identity(4, 4);
    c << b;
    b(0, 0) = Scalar(1);
    c = a + b - d * Scalar(2);
    c.noalias() = a * b;
    c += a * b.transpose();
    c -= a.adjoint() * b;
    c = a.cwiseProduct(b) + a.cwiseQuotient(b);
    c = a.array() * b.array() + a.array().abs2();
    c = (a.array() == b.array()).select(a, b);
    c.row(0) = a.row(1);
    c.col(0).setZero();
    c.block(0, 0, 2, 2) = a.template block<2, 2>(1, 1);
    c.topRows(2).swap(c.bottomRows(2));
    c.leftCols(1) = a.rightCols(1);
    c.diagonal() = a.diagonal();
    c.diagonal().array() += Scalar(1);
    c.template triangularView<Upper>() = a;
    b = c.template triangularView<Lower>().solve(a);
    c.template selfadjointView<Lower>().rankUpdate(a.col(0));
    c = a.template selfadjointView<Upper>() * b;
    c = a.rowwise() + b.row(0);
    c = a.colwise().reverse();
    c = a.replicate(1, 1);
    c = a.col(0).asDiagonal().toDenseMatrix();
    std::cout << a.sum() << a.prod() << a.trace() << a.mean() << a.norm() << a.squaredNorm() << a.stableNorm()
              << a.template lpNorm<1>() << a.determinant() << a.isApprox(b) << a.format(IOFormat()) << a;
    std::cout << a.colwise().sum() << a.rowwise().norm() << a.col(0).dot(a.col(1));
    c = a.inverse();
    c = a.unaryExpr([](Scalar x) { return x * x; });
    c = a.binaryExpr(b, [](Scalar x, Scalar y) { return x + y; });
    c = a.real().template cast<Scalar>();
    c.resize(3, 3);
    c.conservativeResize(4, 4);
    c.setRandom();
    c.setConstant(Scalar(3));
    c.transposeInPlace();
    c.normalize();
    Map<M> map(a.data(), a.rows(), a.cols());
    map = a;
    Ref<M> ref(c);
    ref *= Scalar(2);
}

template <class M>
void decompositions(M a) {
    using Vector = Matrix<typename M::Scalar, Dynamic, 1>;
    Vector b = Vector::Ones(4), x;
    PartialPivLU<M> lu(a);
    x = lu.solve(b);
    (void)lu.determinant();
    (void)lu.inverse();
    (void)lu.reconstructedMatrix();
    FullPivLU<M> full(a);
    x = full.solve(b);
    (void)full.kernel();
    (void)full.image(a);
    (void)full.rank();
    LLT<M> llt(a);
    x = llt.solve(b);
    llt.rankUpdate(b);
    LDLT<M> ldlt(a);
    x = ldlt.solve(b);
    (void)ldlt.isPositive();
    HouseholderQR<M> qr(a);
    x = qr.solve(b);
    M q = qr.householderQ();
    ColPivHouseholderQR<M> pivoting(a);
    x = pivoting.solve(b);
    FullPivHouseholderQR<M> complete(a);
    x = complete.solve(b);
    CompleteOrthogonalDecomposition<M> orthogonal(a);
    x = orthogonal.solve(b);
    JacobiSVD<M> svd(a, ComputeThinU | ComputeThinV);
    x = svd.solve(b);
    BDCSVD<M> divided(a, ComputeFullU | ComputeFullV);
    x = divided.solve(b);
    SelfAdjointEigenSolver<M> symmetric(a);
    (void)symmetric.operatorSqrt();
    (void)symmetric.eigenvectors();
    Tridiagonalization<M> tridiagonal(a);
    (void)tridiagonal.matrixT();
    HessenbergDecomposition<M> hessenberg(a);
    (void)hessenberg.matrixH();
}

void eigenvalues(MatrixXd a, MatrixXcd z) {
    EigenSolver<MatrixXd> general(a);
    (void)general.eigenvalues();
    (void)general.pseudoEigenvectors();
    (void)general.eigenvectors();
    ComplexEigenSolver<MatrixXcd> complex(z);
    (void)complex.eigenvectors();
    RealSchur<MatrixXd> schur(a);
    ComplexSchur<MatrixXcd> complex_schur(z);
    GeneralizedEigenSolver<MatrixXd> generalized(a, a);
    (void)generalized.eigenvalues();
    GeneralizedSelfAdjointEigenSolver<MatrixXd> pair(a, a);
    RealQZ<MatrixXd> qz(a, a);
    (void)a.eigenvalues();
    (void)a.operatorNorm();
}

template <class T>
void sparse() {
    using S = SparseMatrix<T>;
    using Vector = Matrix<T, Dynamic, 1>;
    S a(10, 10), b(10, 10);
    std::vector<Triplet<T>> triplets{{0, 0, T(1)}, {1, 1, T(2)}};
    a.setFromTriplets(triplets.begin(), triplets.end());
    a.insert(2, 2) = T(3);
    a.coeffRef(3, 3) += T(1);
    a.reserve(VectorXi::Constant(10, 3));
    a.makeCompressed();
    b = a * a;
    b = a + a * T(2);
    b = a.transpose();
    b = S(a.transpose()) + a;
    b = a.cwiseProduct(a);
    b.prune(T(1));
    Vector x = Vector::Random(10), y = a * x;
    y = a.transpose() * x;
    y = a.template triangularView<Lower>().solve(x);
    y = a.template selfadjointView<Lower>() * x;
    for (int k = 0; k < a.outerSize(); ++k) {
        for (typename S::InnerIterator it(a, k); it; ++it) {
            x(it.row()) += it.value() * y(it.col());
        }
    }
    a.col(1) = a.col(2);
    (void)a.sum();
    (void)a.norm();
    (void)a.block(0, 0, 2, 2).eval();
    std::cout << a << a.nonZeros() << a.isCompressed();
    SparseVector<T> v(10);
    v.coeffRef(1) = T(1);
    (void)v.dot(x);
    PermutationMatrix<Dynamic> p(10);
    p.setIdentity();
    b = p * a;
    b = a.twistedBy(p);
    Matrix<T, Dynamic, Dynamic> full(a);
    b = full.sparseView();
    SimplicialLLT<S> llt(a);
    x = llt.solve(y);
    SimplicialLDLT<S> ldlt(a);
    x = ldlt.solve(y);
    SparseLU<S> lu;
    lu.analyzePattern(a);
    lu.factorize(a);
    x = lu.solve(y);
    SparseQR<S, COLAMDOrdering<int>> qr(a);
    x = qr.solve(y);
    ConjugateGradient<S> cg(a);
    cg.setTolerance(1e-6);
    x = cg.solveWithGuess(y, x);
    ConjugateGradient<S, Lower | Upper, IncompleteCholesky<T>> preconditioned(a);
    x = preconditioned.solve(y);
    BiCGSTAB<S, IncompleteLUT<T>> stabilized(a);
    x = stabilized.solve(y);
    LeastSquaresConjugateGradient<S> squares(a);
    x = squares.solve(y);
}

void geometry() {
    Vector3d u(1, 2, 3), v = u.cross(u);
    Quaterniond q(AngleAxisd(1.0, Vector3d::UnitX()));
    q = q.slerp(0.5, q.inverse());
    q.normalize();
    v = q * u;
    Matrix3d m = q.toRotationMatrix();
    m = AngleAxisd(0.1, Vector3d::UnitZ()) * AngleAxisd(0.2, Vector3d::UnitY());
    (void)m.eulerAngles(0, 1, 2);
    Affine3d t = Translation3d(u) * q * Scaling(2.0);
    t.translate(u).rotate(q).scale(3.0);
    t.pretranslate(u);
    t.prerotate(m);
    v = t * u;
    t = t.inverse();
    (void)t.rotation();
    Isometry3d iso = Isometry3d::Identity();
    iso = iso * iso.inverse();
    Rotation2Dd turn(0.3);
    Vector2d w = turn * Vector2d(1, 0);
    Hyperplane<double, 3> plane(u, v);
    (void)plane.projection(u);
    ParametrizedLine<double, 3> line(u, v);
    (void)line.intersectionPoint(plane);
    AlignedBox3d box(u, v);
    box.extend(u);
    (void)box.contains(v);
    (void)box.intersection(box);
    (void)umeyama(Matrix3Xd(3, 5), Matrix3Xd(3, 5));
    (void)u.homogeneous().hnormalized();
    (void)w.unitOrthogonal();
    (void)q.angularDistance(q);
}

void arrays() {
    ArrayXXd a = ArrayXXd::Random(3, 3), b = a.exp() + a.log() + a.sin() * a.cos() - a.sqrt() / a.square();
    b = a.pow(2.0) + a.tanh() + a.abs() + a.ceil() + a.floor() + a.round() + a.inverse() + a.atan();
    b = a.min(b).max(0.0);
    (void)(a < b).any();
    (void)(a > 0).all();
    (void)(a >= 0).count();
    (void)a.isNaN();
    ArrayXd l = ArrayXd::LinSpaced(10, 0, 1);
    (void)l.minCoeff();
    Index at;
    (void)l.maxCoeff(&at);
    (void)l(seq(0, 5));
    (void)l.head(3);
    (void)l.tail<2>();
    (void)l.segment(1, 3);
    (void)l.reshaped(5, 2);
    ArrayXcd z = l.cast<std::complex<double>>();
    (void)z.arg();
    std::sort(l.begin(), l.end());
}

void run(MatrixXd a, MatrixXcd z, MatrixXf f, Matrix<double, Dynamic, Dynamic, RowMajor> r) {
    dense(a);
    dense(z);
    dense(f);
    dense(r);
    decompositions(a);
    decompositions(z);
    eigenvalues(a, z);
    sparse<double>();
    sparse<std::complex<double>>();
    geometry();
    arrays();
}
