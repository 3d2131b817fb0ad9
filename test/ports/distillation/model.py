import torch
from torch import nn
from torch.nn import functional as F

BATCH = 64
T = 4.0
ALPHA = 0.7


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 800)
        self.fc2 = nn.Linear(800, 800)
        self.fc3 = nn.Linear(800, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def distillation_loss(student, teacher, labels):
    soft = F.kl_div(F.log_softmax(student / T, 1), F.softmax(teacher / T, 1), reduction="batchmean")
    return ALPHA * T * T * soft + (1 - ALPHA) * F.cross_entropy(student, labels)


def main(run):
    data = run.data("images.npy", "labels.npy", batch_size=BATCH)
    teacher = run.model(Teacher(), "teacher")
    student = run.model(Student(), "student")
    teacher.requires_grad_(False)
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    for epoch in range(run.epochs):
        for images, labels in data:
            with torch.no_grad():
                targets = teacher(images)
            loss = distillation_loss(student(images), targets, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.log(loss=loss)
